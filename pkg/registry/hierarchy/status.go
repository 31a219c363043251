package hierarchy

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/conditions"
)

// sayReady says, in the write itself, that the namespace has its place in the tree: the fence sees to that, so nobody has to look at it
// again and write a status. It does so only where a look at the object and at the tree tells everything; otherwise the conditions stay as
// they are, for the propagator, which also takes back what turns out to be wrong.
//
//   - A stored problem goes when the propagator has found that it is solved.
//   - Labels, annotations, required children and kinds can have problems of their own.
//   - Clients of HNC get the answers that they know, in which a new status never was.
func (s strategy) sayReady(ctx context.Context, h *hnc.Hierarchy) {
	problem := func(c metav1.Condition) bool { return c.Type != hnc.ConditionReady || c.Status != metav1.ConditionTrue }
	if slices.ContainsFunc(h.Status.Conditions, problem) || saysMore(h.Spec) || byHNC(ctx) || !s.tree.InPlace(h.Namespace, h.Spec.Parent) {
		return
	}
	h.Status.Conditions = conditions.Merge(h.Status.Conditions, []metav1.Condition{hnc.ReadyCondition()}, h.Generation, metav1.Now())
}

// saysMore says whether there is more in a hierarchy than its place, and whether it allows deletion.
func saysMore(spec hnc.HierarchySpec) bool {
	return len(spec.Labels)+len(spec.Annotations)+len(spec.NamespaceLabels)+len(spec.NamespaceAnnotations)+
		len(spec.RequiredChildren)+len(spec.Propagation) > 0
}
