package subtree

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
)

// trees has the members of two trees, and counts how often they are read.
type trees struct {
	Tree
	members map[string][]string
	reads   int
}

func (t *trees) Members(_ context.Context, root string) ([]string, error) {
	t.reads++
	return append([]string(nil), t.members[root]...), nil
}

// Many watches are notified of each change of any tree.
func TestChangesOfOtherTreesCostAWatchNothing(t *testing.T) {
	tree := &trees{members: map[string][]string{"a": {"a"}, "b": {"b"}}}
	_, h := newHandler(t, tree)
	var watches []*watcher
	for range 3 {
		q := &request{root: "a", reader: reader{memory: testMemory().share("ann", "a")}, permissions: permissions{decisions: newDecisions(h.lastChange, 0)}}
		watches = append(watches, &watcher{handler: h, request: q, namespaces: sets.New("a"), visible: sets.New[string]()})
	}
	update := func() {
		t.Helper()
		h.members.notify()
		tree.reads = 0
		for _, w := range watches {
			if err := w.updateMembers(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if tree.reads != 1 {
			t.Errorf("the members were read %d times", tree.reads)
		}
	}
	unchanged := func() float64 {
		return testing.AllocsPerRun(100, func() {
			if err := watches[0].updateMembers(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
	update()
	tree.members["b"] = append(tree.members["b"], "b-child")
	update()
	if allocations := unchanged(); allocations > 0 {
		t.Errorf("a change in another tree costs %v allocations", allocations)
	}
	first := watches[0].membership
	tree.members["a"] = nil
	update()
	if watches[0].membership == first || watches[0].namespaces.Len() > 0 {
		t.Errorf("the members are %v", watches[0].namespaces)
	}
	// Subtrees that no watch requests any more are forgotten.
	h.members.notify()
	h.members.notify()
	if n := len(h.members.cached); n > 0 {
		t.Errorf("%d subtrees are cached", n)
	}
}
