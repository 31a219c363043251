package tree

import (
	"maps"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

// Metadata is what a Hierarchy or a Subnamespace says about labels and annotations of its namespace. Those for the namespace
// only are not inherited.
type Metadata struct {
	Labels, Annotations                   []v1beta1.MetaKVP
	NamespaceLabels, NamespaceAnnotations []v1beta1.MetaKVP
}

// Equal says whether both say the same, in the same order.
func (m Metadata) Equal(other Metadata) bool {
	return slices.Equal(m.Labels, other.Labels) && slices.Equal(m.Annotations, other.Annotations) &&
		slices.Equal(m.NamespaceLabels, other.NamespaceLabels) && slices.Equal(m.NamespaceAnnotations, other.NamespaceAnnotations)
}

// Keys says which labels and annotations of namespaces are managed.
func (t *Tree) Keys() managed.Keys { return t.rules.Keys }

// External says whether somebody else manages the namespace: it is always a root, and keeps what it has.
func (t *Tree) External(name string) bool {
	ns := t.namespaces[name]
	return ns != nil && ns.ManagedBy != ""
}

// Record returns the Subnamespace that stands for the namespace, whether or not the namespace exists yet; nil if there is none.
func (t *Tree) Record(name string) *Subnamespace {
	parent := t.forest.Parent(name)
	if ns := t.namespaces[name]; ns != nil {
		parent = ns.SubnamespaceOf
	}
	if parent == "" {
		return nil
	}
	return t.Subnamespace(Key{Parent: parent, Name: name})
}

// Metadata returns what is said about the namespace: by its Subnamespace, which is copied into the Hierarchy, or else by the
// Hierarchy. Source: spec/hnc.md 3.1, step 8.
func (t *Tree) Metadata(name string) Metadata {
	if s := t.Record(name); s != nil {
		return s.Metadata
	}
	if h := t.Hierarchy(name); h != nil {
		return h.Metadata
	}
	return Metadata{}
}

// Inherited returns the labels and annotations that a namespace sets on itself and on its descendants, by key. What is not
// managed is left out; of a key that is there twice, the last counts. An external namespace sets what it has itself, before
// what its Hierarchy says. The maps are not to be changed. Source: spec/hnc.md 3.3, a and b.
func (t *Tree) Inherited(name string) (labels, annotations map[string]string) {
	said := t.Metadata(name)
	labels, annotations = pick(said.Labels, t.rules.Label), pick(said.Annotations, t.rules.Annotation)
	if !t.External(name) {
		return labels, annotations
	}
	ns := t.namespaces[name]
	has := maps.Clone(ns.Labels)
	maps.DeleteFunc(has, func(key, _ string) bool { return !t.rules.Label(key) })
	return Over(has, labels), Over(ns.Annotations, annotations)
}

// Own returns the labels and annotations that a namespace sets on itself only.
func (t *Tree) Own(name string) (labels, annotations map[string]string) {
	said := t.Metadata(name)
	return pick(said.NamespaceLabels, t.rules.Label), pick(said.NamespaceAnnotations, t.rules.Annotation)
}

// Over returns what lower says where upper says nothing. It may be one of the two.
func Over(upper, lower map[string]string) map[string]string {
	switch {
	case len(lower) == 0:
		return upper
	case len(upper) == 0:
		return lower
	}
	both := maps.Clone(lower)
	maps.Copy(both, upper)
	return both
}

// pick returns nil if there is nothing to pick, as in most namespaces.
func pick(pairs []v1beta1.MetaKVP, managed func(string) bool) map[string]string {
	if len(pairs) == 0 {
		return nil
	}
	picked := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		if managed(pair.Key) {
			picked[pair.Key] = pair.Value
		}
	}
	return picked
}

// given is what a namespace gives to its descendants, besides its place in the tree.
type given struct{ labels, annotations, trees, podSecurity map[string]string }

func (t *Tree) given(name string) given {
	var g given
	g.labels, g.annotations = t.Inherited(name)
	g.trees = t.ForeignTrees(name)
	g.podSecurity = t.podSecurity(name)
	return g
}

func (g given) equal(other given) bool {
	return maps.Equal(g.labels, other.labels) && maps.Equal(g.annotations, other.annotations) && maps.Equal(g.trees, other.trees) &&
		maps.Equal(g.podSecurity, other.podSecurity)
}

// podSecurity returns the Pod Security labels of a namespace, nil if nobody inherits them.
func (t *Tree) podSecurity(name string) map[string]string {
	ns := t.namespaces[name]
	if !t.inheritsPodSecurity || ns == nil {
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

// ForeignTrees returns the tree labels that an external namespace has from whoever manages it, by key: they go on below it.
func (t *Tree) ForeignTrees(name string) map[string]string {
	if !t.External(name) {
		return nil
	}
	var trees map[string]string
	for key, value := range t.namespaces[name].Labels {
		if ancestor, ok := hnc.TreeLabelAncestor(key); ok && ancestor != name {
			if trees == nil {
				trees = map[string]string{}
			}
			trees[key] = value
		}
	}
	return trees
}

// complete fills in what the rules say of a namespace, and drops what nobody asks for.
func (t *Tree) complete(ns *Namespace) {
	ns.excluded = t.rules.Excluded(ns.Name, ns.Labels)
	var kept map[string]string
	if t.rules.AnyAnnotation() {
		for key, value := range ns.Annotations {
			if t.rules.Annotation(key) {
				if kept == nil {
					kept = map[string]string{}
				}
				kept[key] = value
			}
		}
	}
	ns.Annotations = kept
}
