package tree

import (
	"maps"
	"slices"
	"strconv"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// inheritance adds to the facts what namespaces pass on to their descendants.
type inheritance struct {
	facts
	// inheritsPodSecurity reports whether sub-namespaces have the Pod Security labels of their parents.
	inheritsPodSecurity bool
}

// given is what a namespace passes on to its descendants, besides its own position in the tree.
type given struct {
	labels, annotations, podSecurity map[string]string
	trees                            map[string]int
	abstract                         []string
}

func (g given) equal(other given) bool {
	return maps.Equal(g.labels, other.labels) && maps.Equal(g.annotations, other.annotations) && maps.Equal(g.trees, other.trees) &&
		maps.Equal(g.podSecurity, other.podSecurity) && slices.Equal(g.abstract, other.abstract)
}

// InheritPodSecurity makes sub-namespaces inherit the Pod Security labels of their parents. It must be called before
// anything is recorded.
func (in *inheritance) InheritPodSecurity() { in.inheritsPodSecurity = true }

// InheritsPodSecurity reports whether they do.
func (in *inheritance) InheritsPodSecurity() bool { return in.inheritsPodSecurity }

// SubnamespaceFor returns the Subnamespace of the namespace, which may not exist yet; nil if there is none.
func (in *inheritance) SubnamespaceFor(name string) *Subnamespace {
	parent := in.forest.Parent(name)
	if ns := in.namespaces[name]; ns != nil {
		parent = ns.SubnamespaceOf
	}
	if parent == "" {
		return nil
	}
	return in.Subnamespace(Key{Parent: parent, Name: name})
}

// Metadata returns the metadata that is specified for the namespace: by its Subnamespace, which is copied into the
// Hierarchy, or else by the Hierarchy. Source: docs/spec/hnc.md 3.1, step 8.
func (in *inheritance) Metadata(name string) Metadata {
	if s := in.SubnamespaceFor(name); s != nil {
		return s.Metadata
	}
	if h := in.Hierarchy(name); h != nil {
		return h.Metadata
	}
	return Metadata{}
}

// Inherited returns the labels and annotations that a namespace sets on itself and on its descendants, by key. Keys
// that are not managed are left out; of a repeated key, the last one wins. An external namespace sets what it has
// itself, before what its Hierarchy specifies. Callers must not change the maps. Source: docs/spec/hnc.md 3.3, a and b.
func (in *inheritance) Inherited(name string) (labels, annotations map[string]string) {
	if m := in.Metadata(name).managed; m != nil {
		labels, annotations = m.labels, m.annotations
	}
	if !in.External(name) {
		return labels, annotations
	}
	ns := in.namespaces[name]
	return Over(ns.managedLabels, labels), Over(ns.Annotations, annotations)
}

// Own returns the labels and annotations that a namespace sets on itself only, as Inherited does.
func (in *inheritance) Own(name string) (labels, annotations map[string]string) {
	if m := in.Metadata(name).managed; m != nil {
		return m.namespaceLabels, m.namespaceAnnotations
	}
	return nil, nil
}

func (in *inheritance) given(name string) given {
	var g given
	g.labels, g.annotations = in.Inherited(name)
	g.trees, g.abstract = in.ForeignTrees(name), in.AbstractAncestors(name)
	g.podSecurity = in.podSecurity(name)
	return g
}

// podSecurity returns the Pod Security labels of a namespace, nil if they are not inherited.
func (in *inheritance) podSecurity(name string) map[string]string {
	ns := in.namespaces[name]
	if !in.inheritsPodSecurity || ns == nil {
		return nil
	}
	var labels map[string]string
	for _, key := range hnc.PodSecurityLabels {
		if value, ok := ns.Labels[key]; ok {
			if labels == nil {
				labels = map[string]string{}
			}
			labels[key] = value
		}
	}
	return labels
}

// maxForeignDistance is the largest distance in a label of a manager that counts: descendants have labels with larger
// ones, which must be valid.
const maxForeignDistance = 1_000_000

// ForeignTrees returns the tree labels that the manager of an external namespace has set, the distances by key. Its
// descendants have them too. Labels whose values are not distances are left out.
func (in *inheritance) ForeignTrees(name string) map[string]int {
	if !in.External(name) {
		return nil
	}
	var trees map[string]int
	// Labels of abstract ancestors are not its manager's, and neither are those that are about to be removed.
	abstract := slices.Concat(in.AbstractAncestors(name), in.namespaces[name].Abstract)
	for key, value := range in.namespaces[name].Labels {
		ancestor, ok := hnc.TreeLabelAncestor(key)
		if !ok || ancestor == name || slices.Contains(abstract, ancestor) {
			continue
		}
		distance, err := strconv.Atoi(value)
		if err != nil || distance < 0 || distance > maxForeignDistance {
			continue
		}
		if trees == nil {
			trees = map[string]int{}
		}
		trees[key] = distance
	}
	return trees
}
