package tree

import "slices"

// top is where a tree begins in the text: a root, or an abstract ancestor with everything below it.
type top struct {
	name     string
	abstract bool
	below    []*top
}

// tops returns the roots in their order, each below its abstract ancestors. Roots with the same ones have them in
// common.
func (t *Tree) tops(roots []string) []*top {
	var all top
	for _, root := range roots {
		at := &all
		if n := t.Get(root); n != nil {
			for _, name := range slices.Backward(n.AbstractAncestors) {
				i := slices.IndexFunc(at.below, func(b *top) bool { return b.abstract && b.name == name })
				if i < 0 {
					i = len(at.below)
					at.below = append(at.below, &top{name: name, abstract: true})
				}
				at = at.below[i]
			}
		}
		at.below = append(at.below, &top{name: root})
	}
	return all.below
}

// walk visits a top and everything below it, as Tree.Walk does.
func (p *top) walk(t *Tree, visit func(Visit) bool) { p.walkAt(t, 0, true, visit) }

func (p *top) walkAt(t *Tree, depth int, last bool, visit func(Visit) bool) (more bool) {
	more = true
	if !p.abstract {
		t.Walk(p.name, func(v Visit) bool {
			if v.Depth == 0 {
				v.Last = last
			}
			v.Depth += depth
			more = visit(v)
			return more
		})
		return more
	}
	if !visit(Visit{Node: &Node{Name: p.name}, Depth: depth, Last: last, Abstract: true}) {
		return false
	}
	for i, b := range p.below {
		if !b.walkAt(t, depth+1, i == len(p.below)-1, visit) {
			return false
		}
	}
	return true
}
