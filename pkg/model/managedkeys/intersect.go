package managedkeys

import (
	"regexp"
	"regexp/syntax"
	"unicode"
)

// intersect reports whether some string may match both anchored expressions. It explores the product of both
// automata. Ends of strings and word boundaries match anywhere, so it has false positives and no false negatives.
func intersect(a, b *regexp.Regexp) bool {
	left, right := program(a), program(b)
	type state struct{ left, right int }
	seen := map[state]bool{}
	var todo []state
	add := func(lefts, rights []int) {
		for _, l := range lefts {
			for _, r := range rights {
				if s := (state{l, r}); !seen[s] {
					seen[s] = true
					todo = append(todo, s)
				}
			}
		}
	}
	add(closure(left, left.Start, true), closure(right, right.Start, true))
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		l, r := left.Inst[s.left], right.Inst[s.right]
		if l.Op == syntax.InstMatch && r.Op == syntax.InstMatch {
			return true
		}
		if overlap(ranges(l), ranges(r)) {
			add(closure(left, int(l.Out), false), closure(right, int(r.Out), false))
		}
	}
	return false
}

func program(e *regexp.Regexp) *syntax.Prog {
	// The expression has been compiled before.
	parsed, err := syntax.Parse(e.String(), syntax.Perl)
	if err != nil {
		panic(err)
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	return compiled
}

// closure returns the instructions reachable from pc without input: those that read a rune, and the match. `^` is
// passable at the start only, `$` always.
func closure(p *syntax.Prog, pc int, start bool) []int {
	var found []int
	visited := make([]bool, len(p.Inst))
	todo := []int{pc}
	for len(todo) > 0 {
		pc = todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if visited[pc] {
			continue
		}
		visited[pc] = true
		switch i := p.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, int(i.Out), int(i.Arg))
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, int(i.Out))
		case syntax.InstEmptyWidth:
			if begin := i.Arg&uint32(syntax.EmptyBeginText) != 0; start || !begin {
				todo = append(todo, int(i.Out))
			}
		case syntax.InstFail:
		default:
			found = append(found, pc)
		}
	}
	return found
}

// ranges returns the runes that an instruction reads, as pairs of first and last.
func ranges(i syntax.Inst) []rune {
	switch i.Op {
	case syntax.InstRune1, syntax.InstRune:
		if len(i.Rune) != 1 {
			return i.Rune
		}
		r := i.Rune[0]
		found := []rune{r, r}
		if i.Arg&uint32(syntax.FoldCase) != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				found = append(found, f, f)
			}
		}
		return found
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	}
	return nil
}

func overlap(a, b []rune) bool {
	for i := 0; i+1 < len(a); i += 2 {
		for j := 0; j+1 < len(b); j += 2 {
			if a[i] <= b[j+1] && b[j] <= a[i+1] {
				return true
			}
		}
	}
	return false
}
