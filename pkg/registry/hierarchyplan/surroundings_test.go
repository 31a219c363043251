package hierarchyplan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

// wholeTree has the records of a tree, and counts the namespaces that are read.
type wholeTree struct {
	*tree.Tree
	read sets.Set[string]
}

func (w wholeTree) namespace(name string) (*tree.Namespace, error) {
	w.read.Insert(name)
	return w.Namespace(name), nil
}
func (w wholeTree) hierarchy(name string) (*tree.Hierarchy, error) {
	return w.HierarchyRecord(name), nil
}
func (w wholeTree) subnamespace(key tree.Key) (*tree.Subnamespace, error) {
	return w.SubnamespaceRecord(key), nil
}

func (w wholeTree) subnamespacesIn(parent string) ([]*tree.Subnamespace, error) {
	var all []*tree.Subnamespace
	for _, key := range w.SubnamespaceKeys() {
		if key.Parent == parent {
			all = append(all, w.SubnamespaceRecord(key))
		}
	}
	return all, nil
}

// edgesAbove and edgesBelow have the edges of Hierarchies, and those of claims to missing namespaces.
func (w wholeTree) edgesAbove(name string) []string {
	if h := w.HierarchyRecord(name); w.Namespace(name) != nil && h != nil && h.Parent != "" {
		return []string{h.Parent}
	}
	return w.Chain(name)[1:]
}

func (w wholeTree) edgesBelow(name string) []string {
	var children []string
	for h := range w.Hierarchies() {
		if child := h.Namespace; h.Parent == name {
			children = append(children, child)
		}
	}
	return children
}

func (w wholeTree) terminatingBelow(parent string) ([]string, error) {
	return slices.DeleteFunc(w.Names(), func(name string) bool {
		return !w.Namespace(name).Terminating || w.Namespace(name).LabeledParent() != parent
	}), nil
}

// facts are what plans use of the namespaces around one.
func facts(t *tree.Tree, around, other string) map[string]any {
	f := map[string]any{"scope": plan.Scope(t, around), "deletion": plan.Deletion(t, around), "ancestors of the other": t.Ancestors(other)}
	for _, name := range plan.Scope(t, around) {
		f[name] = []any{t.Ancestors(name), t.Frozen(name), namespacestate.Labels(t, name), t.CascadingAllowed(name), t.Propagation(name)}
	}
	return f
}

func TestSurroundingsSayTheSameAsTheWholeTree(t *testing.T) {
	compared := 0
	for seed := range uint64(3) {
		whole := tree.New(treetest.Rules())
		random := treetest.NewRandom(whole, seed)
		for step := range 300 {
			_, description := random.Change()
			for _, around := range treetest.Names {
				if whole.Namespace(around) == nil {
					continue
				}
				other := treetest.Names[step%len(treetest.Names)]
				part, err := readSurroundings(wholeTree{whole, sets.New[string]()}, treetest.Rules(), around, other)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(facts(whole, around, other), facts(part, around, other)); diff != "" {
					t.Fatalf("seed %d, step %d, %s: around %s (-whole +part):\n%s", seed, step, description, around, diff)
				}
				compared += len(whole.Descendants(around))
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d descendants were compared", compared)
	}
}

func TestSurroundingsAreNotTheCluster(t *testing.T) {
	whole := tree.New(treetest.Rules())
	add := func(name, parent string) {
		whole.SetNamespace(&tree.Namespace{Name: name, UID: "u"})
		whole.SetHierarchy(&tree.Hierarchy{Namespace: name, Parent: parent})
	}
	add("root", "")
	for i := range 100 {
		team := fmt.Sprintf("team-%d", i)
		add(team, "root")
		add(team+"-leaf", team)
	}
	w := wholeTree{whole, sets.New[string]()}
	if _, err := readSurroundings(w, treetest.Rules(), "team-5", "team-7"); err != nil {
		t.Fatal(err)
	}
	if got, want := sets.List(w.read), []string{"root", "team-5", "team-5-leaf", "team-7"}; !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}
