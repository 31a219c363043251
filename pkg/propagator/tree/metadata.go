package tree

import (
	"maps"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Metadata are the labels and annotations that a Hierarchy or a Subnamespace specifies for its namespace. Those for the
// namespace only are not inherited.
type Metadata struct {
	Labels, Annotations                   []v1beta1.MetaKVP
	NamespaceLabels, NamespaceAnnotations []v1beta1.MetaKVP
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

// pick returns the managed pairs, nil if there are none, as in most namespaces.
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
