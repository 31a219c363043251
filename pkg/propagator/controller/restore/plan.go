package restore

import (
	"maps"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// record is the lost Hierarchy of a namespace, as the labels of the namespaces describe it.
type record struct {
	name string
	// parent is "" for a root.
	parent string
	// subnamespace reports that the parent had a Subnamespace for it.
	subnamespace bool
	cascading    bool
	// abstract are the abstract ancestors of a root.
	abstract []string
	metadata tree.Metadata
}

// plan returns the lost hierarchies by name: labels name the parent and say where cascading deletion is allowed, and
// managed metadata is attributed to where it begins. Roots with nothing else to record are left out.
func plan(t *tree.Tree) []record {
	parents, children := map[string]string{}, map[string][]string{}
	for _, name := range t.Names() {
		if parent := labelledParent(t, name); parent != "" {
			parents[name] = parent
			children[parent] = append(children[parent], name)
		}
	}
	var found []record
	for _, name := range slices.Sorted(slices.Values(t.Names())) {
		if !t.Active(name) {
			continue
		}
		ns, parent := t.Namespace(name), t.Namespace(parents[name])
		r := record{
			name: name, parent: parents[name],
			subnamespace: ns.SubnamespaceOf != "" && ns.SubnamespaceOf == parents[name] && ns.Labels[hnc.LabelOrphaned] != "true",
			cascading: ns.Labels[hnc.LabelCascadingDeletion] == hnc.CascadingAllowed &&
				(parent == nil || parent.Labels[hnc.LabelCascadingDeletion] != hnc.CascadingAllowed),
		}
		if !t.External(name) {
			labels := func(ns *tree.Namespace) map[string]string { return ns.Labels }
			annotations := func(ns *tree.Namespace) map[string]string { return ns.Annotations }
			r.metadata.Labels, r.metadata.NamespaceLabels = pairsIntroducedAt(t, ns, parent, children[name], labels, t.Keys().Label)
			r.metadata.Annotations, r.metadata.NamespaceAnnotations = pairsIntroducedAt(t, ns, parent, children[name], annotations, t.Keys().Annotation)
		}
		if ns.HasAbstractParent() && !t.External(name) {
			r.abstract = ns.Abstract
		}
		if r.parent != "" || len(r.abstract) > 0 || r.cascading || !r.metadata.Equal(tree.Metadata{}) {
			found = append(found, r)
		}
	}
	return found
}

// missing returns the namespaces that have a parent by their labels, and whose place in a tree is not known to the
// store.
func missing(t *tree.Tree) []string {
	var names []string
	for _, name := range slices.Sorted(slices.Values(t.Names())) {
		if t.Active(name) && labelledParent(t, name) != "" && t.Parent(name) == "" && t.HierarchyRecord(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// labelledParent returns the namespace at distance 1, "" if there is none. The labels of an external namespace are its
// manager's.
func labelledParent(t *tree.Tree, name string) string {
	ns := t.Namespace(name)
	if t.Excluded(name) || ns.ManagedBy != "" {
		return ""
	}
	return ns.LabeledParent()
}

// pairsIntroducedAt returns the managed pairs that the namespace has and its parent lacks: those that its descendants
// have too, and those that it has alone.
func pairsIntroducedAt(t *tree.Tree, ns, parent *tree.Namespace, children []string, of func(*tree.Namespace) map[string]string, isManaged func(string) bool,
) (inherited, own []v1beta1.MetaKVP) {
	has := of(ns)
	for _, key := range slices.Sorted(maps.Keys(has)) {
		pair := v1beta1.MetaKVP{Key: key, Value: has[key]}
		if !isManaged(key) {
			continue
		}
		if parent != nil {
			if value, ok := of(parent)[key]; ok && value == pair.Value {
				continue
			}
		}
		handedDown := len(children) == 0 || slices.ContainsFunc(children, func(child string) bool { return of(t.Namespace(child))[key] == pair.Value })
		if handedDown {
			inherited = append(inherited, pair)
		} else {
			own = append(own, pair)
		}
	}
	return inherited, own
}
