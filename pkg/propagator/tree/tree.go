package tree

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

// Tree holds the records of a cluster and the forest that follows from them.
type Tree struct {
	rules  managed.Rules
	forest *forest.Forest

	namespaces  map[string]*Namespace
	hierarchies map[string]*Hierarchy
	// records holds the Subnamespaces by parent and name; askers, by name, the parents that have or require one.
	records map[string]map[string]*Subnamespace
	askers  map[string]sets.Set[string]
	// refused holds why a required Subnamespace could not be created.
	refused map[Key]string
	// converted holds the UIDs of Subnamespaces whose namespaces were seen to become full ones.
	converted map[Key]types.UID
	// inheritsPodSecurity says whether sub-namespaces have the Pod Security labels of their parents.
	inheritsPodSecurity bool
	// creatorRole is the ClusterRole that who creates a sub-namespace gets there, "" for none.
	creatorRole string
	problems    map[string][]metav1.Condition
	// held holds, by namespace, the copies that are deleted and kept by finalizers.
	held map[string]map[string]struct{}
}

// New returns an empty tree. The rules say which namespaces take part in it, and what hierarchies set on them.
func New(rules managed.Rules) *Tree {
	t := &Tree{
		rules:       rules,
		namespaces:  map[string]*Namespace{},
		hierarchies: map[string]*Hierarchy{},
		records:     map[string]map[string]*Subnamespace{},
		askers:      map[string]sets.Set[string]{},
		refused:     map[Key]string{},
		converted:   map[Key]types.UID{},
		held:        map[string]map[string]struct{}{},
	}
	t.forest = forest.New(t.Excluded)
	return t
}

// Excluded says whether the namespace can't be part of a hierarchy, by its name or by its labels. One that does not exist has
// none.
func (t *Tree) Excluded(name string) bool { return t.WhyExcluded(name) != "" }

// WhyExcluded says why the namespace can't be part of a hierarchy, "" if it can.
func (t *Tree) WhyExcluded(name string) string {
	if ns := t.namespaces[name]; ns != nil {
		return ns.excluded
	}
	return t.rules.Excluded(name, nil)
}

// NameExcluded says whether no namespace of that name can ever be part of a hierarchy. The answer never changes, and may be
// asked for without the lock that guards the tree.
func (t *Tree) NameExcluded(name string) bool { return t.rules.NameExcluded(name) != "" }

// Namespace returns the namespace, nil if it does not exist.
func (t *Tree) Namespace(name string) *Namespace { return t.namespaces[name] }

// Active says whether the propagator may write in the namespace: it exists, is not excluded and does not terminate.
func (t *Tree) Active(name string) bool {
	ns := t.namespaces[name]
	return ns != nil && !ns.Terminating && !t.Excluded(name)
}

// HierarchyRecord returns the Hierarchy of the namespace whether or not it counts, nil if there is none.
func (t *Tree) HierarchyRecord(name string) *Hierarchy { return t.hierarchies[name] }

// Hierarchy returns the Hierarchy of the namespace, nil if there is none that counts: one that is bound to another
// incarnation of the namespace doesn't.
func (t *Tree) Hierarchy(name string) *Hierarchy {
	h, ns := t.hierarchies[name], t.namespaces[name]
	if h == nil || ns == nil || (h.Owner != "" && h.Owner != ns.UID) {
		return nil
	}
	return h
}

// SubnamespaceRecord returns the Subnamespace whether or not it counts, nil if there is none.
func (t *Tree) SubnamespaceRecord(key Key) *Subnamespace { return t.records[key.Parent][key.Name] }

// Subnamespace returns the Subnamespace, nil if there is none that counts: one that is void, or bound to another incarnation of its parent,
// doesn't.
func (t *Tree) Subnamespace(key Key) *Subnamespace {
	s := t.records[key.Parent][key.Name]
	if s == nil || s.Void {
		return nil
	}
	if ns := t.namespaces[key.Parent]; ns != nil && s.Owner != "" && s.Owner != ns.UID {
		return nil
	}
	return s
}

// Asking returns the keys of the Subnamespaces that ask for the namespace, or are required to, in the order of their parents' names.
func (t *Tree) Asking(name string) []Key {
	keys := make([]Key, 0, len(t.askers[name]))
	for _, parent := range sets.List(t.askers[name]) {
		keys = append(keys, Key{Parent: parent, Name: name})
	}
	return keys
}

// InheritPodSecurity makes sub-namespaces have the Pod Security labels of their parents. It is to be called before anything is recorded.
func (t *Tree) InheritPodSecurity() { t.inheritsPodSecurity = true }

// InheritsPodSecurity says whether they do.
func (t *Tree) InheritsPodSecurity() bool { return t.inheritsPodSecurity }

// SetCreatorRole records the ClusterRole that who creates a sub-namespace gets there, "" for none.
func (t *Tree) SetCreatorRole(role string) { t.creatorRole = role }

// CreatorRole returns that ClusterRole.
func (t *Tree) CreatorRole() string { return t.creatorRole }

// Names returns the namespaces that exist, in no order.
func (t *Tree) Names() []string {
	names := make([]string, 0, len(t.namespaces))
	for name := range t.namespaces {
		names = append(names, name)
	}
	return names
}

// HierarchyNames returns the namespaces that have a Hierarchy, in no order.
func (t *Tree) HierarchyNames() []string {
	names := make([]string, 0, len(t.hierarchies))
	for name := range t.hierarchies {
		names = append(names, name)
	}
	return names
}

// SubnamespaceKeys returns the keys of all Subnamespaces, in no order.
func (t *Tree) SubnamespaceKeys() []Key {
	var keys []Key
	for parent, records := range t.records {
		for name := range records {
			keys = append(keys, Key{Parent: parent, Name: name})
		}
	}
	return keys
}

// Parent returns the namespace's effective parent, "" for a root.
func (t *Tree) Parent(name string) string { return t.forest.Parent(name) }

// Chain returns the namespace and its ancestors, the root last.
func (t *Tree) Chain(name string) []string { return t.forest.Chain(name) }

// Cycle returns the cycle that the namespace is a member of, nil if there is none.
func (t *Tree) Cycle(name string) []string { return t.forest.Cycle(name) }

// Ancestors returns the namespace's ancestors without itself, the root first.
func (t *Tree) Ancestors(name string) []string {
	chain := t.forest.Chain(name)[1:]
	slices.Reverse(chain)
	return chain
}

// Descendants returns the namespaces below the namespace, parents before their children.
func (t *Tree) Descendants(name string) []string { return t.forest.Descendants(name) }

// Children returns the existing namespaces whose effective parent is the namespace, sorted.
func (t *Tree) Children(name string) []string {
	return slices.DeleteFunc(t.forest.Children(name), func(child string) bool { return t.namespaces[child] == nil })
}

// HasChildren says whether a namespace is, or is about to be created, below the namespace.
func (t *Tree) HasChildren(name string) bool { return t.forest.HasChildren(name) }

// HaltedAt returns the nearest namespace, from name upward, at which activities are halted, and why; "" for none.
func (t *Tree) HaltedAt(name string) (string, forest.Cause) { return t.forest.HaltedAt(name) }

// Len returns how many namespaces exist.
func (t *Tree) Len() int { return len(t.namespaces) }
