package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// list holds the banned phrases and the allowed ones, each under its first word.
type list struct {
	banned  map[string][]phrase
	allowed map[string][]phrase
}

// phrase is one or more words. A banned one has what to say instead; an allowed one may be limited to a path.
type phrase struct {
	words []string
	say   string
	path  string
}

type finding struct {
	path string
	line int
	word string
	say  string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: say %s", f.path, f.line, f.word, f.say)
}

// parse reads the format that the head of words.txt describes.
func parse(text string) (*list, error) {
	l := &list{banned: map[string][]phrase{}, allowed: map[string][]phrase{}}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := l.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return l, nil
}

func (l *list) add(line string) error {
	left, say, found := strings.Cut(line, " = ")
	if !found || strings.TrimSpace(say) == "" {
		return errors.New("want WORDS = what to say, or allow WORDS = reason")
	}
	into := l.banned
	where := ""
	if rest, ok := strings.CutPrefix(left, "allow "); ok {
		into, left = l.allowed, rest
		if i := strings.LastIndex(left, `" in `); i >= 0 {
			where, left = strings.TrimSpace(left[i+len(`" in `):]), left[:i+1]
		}
	}
	quoted := false
	for part := range strings.SplitSeq(left, `"`) {
		terms := []string{part}
		if !quoted {
			terms = strings.Fields(part)
		}
		for _, term := range terms {
			var ws []string
			for _, p := range split([]byte(term)) {
				ws = append(ws, p.text)
			}
			if len(ws) == 0 {
				return fmt.Errorf("%q holds no word", term)
			}
			into[ws[0]] = append(into[ws[0]], phrase{words: ws, say: say, path: where})
		}
		quoted = !quoted
	}
	if !quoted {
		return errors.New("a quotation mark is missing")
	}
	return nil
}

// find returns the banned phrases in content that are not within an allowed one.
func (l *list) find(name string, content []byte) []finding {
	parts := split(content)
	covered := make([]bool, len(parts))
	for i := range parts {
		for _, p := range l.allowed[parts[i].text] {
			if p.in(name) && p.at(parts[i:]) {
				for k := range p.words {
					covered[i+k] = true
				}
			}
		}
	}
	var found []finding
	for i := range parts {
		for _, p := range l.banned[parts[i].text] {
			if p.at(parts[i:]) && !covered[i] {
				found = append(found, finding{name, parts[i].line, strings.Join(p.words, " "), p.say})
			}
		}
	}
	return found
}

// in reports whether the phrase counts in the file: everywhere, or in or below its path.
func (p phrase) in(name string) bool {
	return p.path == "" || name == p.path || strings.HasPrefix(name, strings.TrimSuffix(p.path, "/")+"/")
}

// at reports whether parts begin with the phrase.
func (p phrase) at(parts []part) bool {
	return len(parts) >= len(p.words) &&
		slices.EqualFunc(p.words, parts[:len(p.words)], func(w string, q part) bool { return w == q.text })
}
