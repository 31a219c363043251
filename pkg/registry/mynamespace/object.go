package mynamespace

import (
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// newObject returns the MyNamespace of a namespace. It shares the labels, which are never modified.
func newObject(namespace *corev1.Namespace) *hnc.MyNamespace {
	abstract := hnc.AbstractAncestors(namespace.Annotations)
	o := &hnc.MyNamespace{
		ObjectMeta: metav1.ObjectMeta{
			Name:              namespace.Name,
			UID:               namespace.UID,
			Labels:            namespace.Labels,
			CreationTimestamp: namespace.CreationTimestamp,
			DeletionTimestamp: namespace.DeletionTimestamp,
		},
		Status: hnc.MyNamespaceStatus{
			Phase:  string(namespace.Status.Phase),
			Kind:   managedkeys.Kind(namespace.Annotations),
			Parent: hnc.LabeledParent(namespace.Name, namespace.Labels, abstract),
			Root:   namespace.Name,
		},
	}
	// A tree label holds the distance to an ancestor, of which the root has the greatest. Abstract ancestors are not
	// namespaces.
	for key, value := range namespace.Labels {
		ancestor, ok := hnc.TreeLabelAncestor(key)
		if !ok || slices.Contains(abstract, ancestor) {
			continue
		}
		depth, err := strconv.ParseInt(value, 10, 32)
		if err != nil || depth < 0 || depth == math.MaxInt32 {
			continue // written before the labels were protected
		}
		if int32(depth) > o.Status.Depth {
			o.Status.Depth, o.Status.Root = int32(depth), ancestor
		}
	}
	return o
}

// equal reports whether two objects look the same to readers.
func equal(a, b *hnc.MyNamespace) bool {
	return a.UID == b.UID && a.Status == b.Status && a.DeletionTimestamp.Equal(b.DeletionTimestamp) &&
		maps.Equal(a.Labels, b.Labels)
}
