package tree

import (
	"maps"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// Metadata are the labels and annotations that a Hierarchy or a Subnamespace specifies for its namespace. Those for the
// namespace only are not inherited.
type Metadata struct {
	Labels, Annotations                   []v1beta1.MetaKVP
	NamespaceLabels, NamespaceAnnotations []v1beta1.MetaKVP

	// managed are the managed ones, nil if there are none. The tree fills them in.
	managed *managedMetadata
}

// managedMetadata are the managed ones of Metadata by key. Of a repeated key, the last one wins.
type managedMetadata struct {
	labels, annotations                   map[string]string
	namespaceLabels, namespaceAnnotations map[string]string
}

// complete evaluates the rules, once for each version of an object: a subtree asks for the metadata of a namespace
// again and again, and one object may repeat a few keys hundreds of times.
func (m *Metadata) complete(keys managedkeys.Keys) {
	m.managed = nil
	if len(m.Labels)+len(m.Annotations)+len(m.NamespaceLabels)+len(m.NamespaceAnnotations) > 0 {
		m.managed = &managedMetadata{
			pick(m.Labels, keys.Label), pick(m.Annotations, keys.Annotation),
			pick(m.NamespaceLabels, keys.Label), pick(m.NamespaceAnnotations, keys.Annotation),
		}
	}
}

// Equal reports whether both are the same, in the same order.
func (m Metadata) Equal(other Metadata) bool {
	return slices.Equal(m.Labels, other.Labels) && slices.Equal(m.Annotations, other.Annotations) &&
		slices.Equal(m.NamespaceLabels, other.NamespaceLabels) && slices.Equal(m.NamespaceAnnotations, other.NamespaceAnnotations)
}

// Over returns upper, and what lower has where upper has nothing. The result may be one of the two.
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

// keep returns the managed ones, nil if there are none.
func keep(all map[string]string, isManaged func(string) bool) map[string]string {
	var kept map[string]string
	for key, value := range all {
		if isManaged(key) {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// pick returns the managed pairs, nil if there are none.
func pick(pairs []v1beta1.MetaKVP, isManaged func(string) bool) map[string]string {
	var picked map[string]string
	for _, pair := range pairs {
		if !isManaged(pair.Key) {
			continue
		}
		if picked == nil {
			picked = map[string]string{}
		}
		picked[pair.Key] = pair.Value
	}
	return picked
}
