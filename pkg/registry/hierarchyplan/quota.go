package hierarchyplan

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
)

// quotas returns the object counts that would exceed a quota in a namespace, if the requester is allowed to list
// ResourceQuotas there. Removals are subtracted because they happen first.
func (p *Planner) quotas(ctx context.Context, v *visibility, e plan.Effect) []hnc.PlannedQuota {
	more := map[schema.GroupResource]int64{}
	for _, w := range e.Writes {
		switch w.Verb {
		case copies.Create:
			more[w.Kind.GroupResource()]++
		case copies.Delete:
			more[w.Kind.GroupResource()]--
		}
	}
	grows := false
	for _, n := range more {
		grows = grows || n > 0
	}
	if !grows || !v.allowed(ctx, "list", schema.GroupResource{Resource: "resourcequotas"}, e.Namespace) {
		return nil
	}
	list, err := p.Kubernetes.CoreV1().ResourceQuotas(e.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var exceeded []hnc.PlannedQuota
	for _, quota := range list.Items {
		limits, use := hnc.BoundQuantities(quota.Status.Hard), hnc.BoundQuantities(quota.Status.Used)
		for resource, n := range more {
			for _, name := range quotaResources(resource) {
				hard, limited := limits[name]
				used := use[name]
				if planned := used.Value() + n; limited && n > 0 && planned > hard.Value() {
					exceeded = append(exceeded, hnc.PlannedQuota{Name: quota.Name, Resource: string(name), Hard: hard.Value(), Planned: planned})
				}
			}
		}
	}
	slices.SortFunc(exceeded, func(a, b hnc.PlannedQuota) int {
		return strings.Compare(a.Name+"/"+a.Resource, b.Name+"/"+b.Resource)
	})
	return exceeded
}

// quotaResources returns the names under which ResourceQuotas count objects of a resource.
func quotaResources(resource schema.GroupResource) []corev1.ResourceName {
	names := []corev1.ResourceName{corev1.ResourceName("count/" + resource.String())}
	if resource.Group == "" {
		names = append(names, corev1.ResourceName(resource.Resource))
	}
	return names
}
