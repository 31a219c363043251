package hierarchyplan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

// quotas returns the object counts that would exceed a quota in a namespace, if the requester is allowed to list
// ResourceQuotas there. Removals are subtracted because they happen first. With an error, some may be missing.
func (p *Planner) quotas(ctx context.Context, v *visibility, e plan.Effect) (exceeded []hnc.PlannedQuota, err error) {
	more := map[schema.GroupResource]int64{}
	for _, w := range e.Writes {
		switch w.Verb {
		case copies.Create:
			more[w.Kind.GroupResource()]++
		case copies.Delete:
			more[w.Kind.GroupResource()]--
		}
	}
	requested := corev1.ResourceList{}
	for counted, n := range more {
		if n > 0 {
			for _, name := range quotaResources(counted) {
				requested[name] = *resource.NewQuantity(n, resource.DecimalSI)
			}
		}
	}
	quotas := corev1.SchemeGroupVersion.WithResource(string(corev1.ResourceQuotas))
	if len(requested) == 0 || !v.allowed(ctx, "list", quotas.GroupResource(), e.Namespace) {
		return nil, nil
	}
	err = p.Lister.forEach(ctx, quotas, e.Namespace, maxExceededQuotas, func(string) bool { return true }, func(u *unstructured.Unstructured) error {
		var q corev1.ResourceQuota
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &q); err != nil {
			return err
		}
		for _, over := range quota.Exceeding(hnc.BoundQuantities(q.Status.Hard), hnc.BoundQuantities(q.Status.Used), requested) {
			if len(exceeded) == maxExceededQuotas {
				return fmt.Errorf("more than %d resources of quotas are exceeded", maxExceededQuotas)
			}
			planned := over.Used.DeepCopy()
			planned.Add(over.Requested)
			exceeded = append(exceeded, hnc.PlannedQuota{Name: q.Name, Resource: string(over.Resource), Hard: objects(over.Limit), Planned: objects(planned)})
		}
		return nil
	})
	return exceeded, err
}

// objects returns a number of objects, at most hnc.MaxQuantity: the status of a quota may have any, of which Value is 0.
func objects(q resource.Quantity) int64 {
	if q.CmpInt64(hnc.MaxQuantity) > 0 {
		return hnc.MaxQuantity
	}
	return q.Value()
}

// quotaResources returns the names under which ResourceQuotas count objects of a resource.
func quotaResources(resource schema.GroupResource) []corev1.ResourceName {
	names := []corev1.ResourceName{corev1.ResourceName("count/" + resource.String())}
	if resource.Group == "" {
		names = append(names, corev1.ResourceName(resource.Resource))
	}
	return names
}
