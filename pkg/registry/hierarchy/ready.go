package hierarchy

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/conditionmerge"
)

// setReadyCondition sets the condition Ready in the write that sets the parent, so that the propagator does not have to
// write a status afterwards: the fence ensures the parent. It does so only if the object and the tree determine all
// conditions. Otherwise the conditions stay as they are for the propagator, which also takes Ready back if it finds a
// problem.
//
//   - A stored problem stays until the propagator finds it solved.
//   - Labels, annotations, required children and kinds can have problems of their own.
//   - Clients of HNC's version get the answers of HNC, which contain no new status.
func (s strategy) setReadyCondition(ctx context.Context, h *hnc.Hierarchy) {
	problem := func(c metav1.Condition) bool { return c.Type != hnc.ConditionReady || c.Status != metav1.ConditionTrue }
	if slices.ContainsFunc(h.Status.Conditions, problem) || hasSettings(h.Spec) || isV1alpha2(ctx) || !s.tree.Index.InPlace(h.Namespace, h.Spec.Parent) {
		return
	}
	h.Status.ObservedGeneration = h.Generation
	h.Status.Conditions = conditionmerge.Merge(h.Status.Conditions, []metav1.Condition{hnc.ReadyCondition()}, h.Generation, metav1.Now())
}

// hasSettings reports whether a spec sets more than the parent and cascading deletion.
func hasSettings(spec hnc.HierarchySpec) bool {
	return len(spec.Labels)+len(spec.Annotations)+len(spec.NamespaceLabels)+len(spec.NamespaceAnnotations)+
		len(spec.RequiredChildren)+len(spec.AbstractAncestors)+len(spec.Propagation) > 0
}

// isV1alpha2 reports whether the request uses HNC's version.
func isV1alpha2(ctx context.Context) bool {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	return ok && info.APIVersion == v1alpha2.SchemeGroupVersion.Version
}
