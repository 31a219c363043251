package forest

import (
	"slices"
	"testing"
)

// model is a forest as two maps. Its functions are simple and slow.
type model struct {
	parents map[string]string
	exists  map[string]bool
}

func (m *model) chain(name string) (chain []string) {
	for at := name; (at != "" || len(chain) == 0) && !slices.Contains(chain, at); at = m.parents[at] {
		chain = append(chain, at)
	}
	return chain
}

func (m *model) inCycle(name string) bool {
	return name != "" && slices.ContainsFunc(m.chain(name), func(at string) bool { return m.parents[at] == name })
}

func (m *model) names() (names []string) {
	for _, name := range fuzzNames {
		if m.exists[name] || m.parents[name] != "" || len(m.children(name)) > 0 {
			names = append(names, name)
		}
	}
	return names
}

func (m *model) children(name string) (children []string) {
	for _, child := range fuzzNames {
		if name != "" && m.parents[child] == name {
			children = append(children, child)
		}
	}
	return children
}

func (m *model) descendants(name string) (all []string) {
	for _, other := range fuzzNames {
		if other != name && slices.Contains(m.chain(other), name) {
			all = append(all, other)
		}
	}
	return all
}

func (m *model) haltedAt(name string) (string, Cause) {
	for _, at := range m.chain(name) {
		parent := m.parents[at]
		switch {
		case m.inCycle(at):
			return at, InCycle
		case parent == "excluded":
			return at, IllegalParent
		case parent != "" && !m.exists[parent]:
			return at, ParentMissing
		}
	}
	return "", notHalted
}

// fuzzNames are sorted.
var fuzzNames = []string{"a", "b", "c", "d", "e", "excluded", "f", "g"}

// FuzzForest applies operations to a forest and to a model: bytes 0 to 15 set whether a namespace exists, 16 to 23 make
// it a root, and the others set its parent.
func FuzzForest(f *testing.F) {
	parent := func(child, parent byte) byte { return 24 + child*8 + parent }
	f.Add([]byte{8, 9, 10, parent(1, 0), parent(2, 1)})
	f.Add([]byte{8, 9, 10, parent(0, 1), parent(1, 2), parent(2, 0), parent(3, 0), 0, 17})
	f.Add([]byte{9, parent(1, 5), parent(2, 1), 13, parent(0, 0), 16, 1})
	f.Add([]byte{parent(6, 7), parent(7, 6), parent(6, 5), parent(6, 6)})
	f.Fuzz(func(t *testing.T, operations []byte) {
		forest := New(func(name string) bool { return name == "excluded" })
		m := &model{parents: map[string]string{}, exists: map[string]bool{}}
		for _, operation := range operations[:min(len(operations), 60)] {
			switch name := fuzzNames[operation%8]; {
			case operation < 16:
				m.exists[name] = operation >= 8
				forest.SetExists(name, operation >= 8)
			case operation < 24:
				m.parents[name] = ""
				forest.SetParent(name, "")
			default:
				child := fuzzNames[(operation-24)/8%8]
				m.parents[child] = name
				forest.SetParent(child, name)
			}
			compare(t, forest, m)
		}
	})
}

func compare(t *testing.T, forest *Forest, m *model) {
	t.Helper()
	same(t, "names", "", forest.Names(), m.names())
	for _, name := range fuzzNames {
		chain := m.chain(name)
		same(t, "chain", name, forest.Chain(name), chain)
		same(t, "children", name, forest.Children(name), m.children(name))
		descendants := forest.Descendants(name)
		for i, at := range descendants {
			if parent := m.parents[at]; parent != name && !slices.Contains(descendants[:i], parent) {
				t.Fatalf("descendants of %s: %s is before its parent %s in %v", name, at, parent, descendants)
			}
		}
		same(t, "descendants", name, slices.Sorted(slices.Values(descendants)), m.descendants(name))
		var walked []string
		forest.Walk(name, func(at string, _ int) bool { walked = append(walked, at); return true })
		same(t, "walk", name, slices.Sorted(slices.Values(walked)), slices.Sorted(slices.Values(append(descendants, name))))
		if forest.Parent(name) != m.parents[name] || forest.Exists(name) != m.exists[name] || forest.HasChildren(name) != (len(m.children(name)) > 0) {
			t.Fatalf("%s: parent %q, exists %t, has children %t", name, forest.Parent(name), forest.Exists(name), forest.HasChildren(name))
		}
		cycle := forest.Cycle(name)
		if (cycle != nil) != m.inCycle(name) {
			t.Fatalf("%s: cycle %v", name, cycle)
		} else if cycle != nil {
			same(t, "cycle", name, slices.Sorted(slices.Values(cycle)), slices.Sorted(slices.Values(chain)))
			same(t, "rotated cycle", name, cycle, m.chain(slices.Min(chain)))
		}
		at, cause := forest.HaltedAt(name)
		if wantAt, want := m.haltedAt(name); at != wantAt || cause != want {
			t.Fatalf("%s: halted at %q by %q, want %q by %q", name, at, cause, wantAt, want)
		}
		for _, other := range fuzzNames {
			allowed := CheckMove(other, forest.Height(other), forest.Chain(name)) == nil
			if want := !slices.Contains(chain, other); allowed != want {
				t.Fatalf("%s below %s: allowed %t, want %t", other, name, allowed, want)
			}
		}
	}
}

func same(t *testing.T, what, name string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s %s: got %v, want %v", what, name, got, want)
	}
}
