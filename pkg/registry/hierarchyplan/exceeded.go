package hierarchyplan

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

const (
	// maxExceededQuotas is how many resources of hierarchical quotas a plan lists, and how many of ResourceQuotas in a
	// namespace.
	maxExceededQuotas = 1000
	// maxQuotaReviews bounds the access reviews for single quotas.
	maxQuotaReviews = 100
)

// exceededQuotas adds to a plan which hierarchical quotas a legal move would exceed. Of those that the requester may
// not get, only the number is shown.
func (p *Planner) exceededQuotas(ctx context.Context, v *visibility, namespace *corev1.Namespace, parent string, status *hnc.HierarchyPlanStatus) error {
	exceeded, err := p.Tree.Moves.ExceededQuotas(ctx, namespace, parent)
	if err != nil {
		return err
	}
	reviews := 0
	status.ExceededQuotas, status.OmittedExceededQuotas = visibleQuotas(exceeded, func(namespace, name string) bool {
		resource := hnc.Resource("hierarchicalresourcequotas")
		if v.allowed(ctx, "get", resource, namespace) {
			return true
		}
		reviews++
		return reviews <= maxQuotaReviews && v.check(ctx, permission{verb: "get", resource: resource, namespace: namespace, name: name})
	})
	return nil
}

// visibleQuotas returns the rows of the quotas that may be shown, and the number of other rows.
func visibleQuotas(exceeded []treerules.ExceededQuota, visible func(namespace, name string) bool) (rows []hnc.ExceededQuota, omitted int32) {
	for _, e := range exceeded {
		if len(rows) == maxExceededQuotas || !visible(e.Namespace, e.Name) {
			omitted += int32(len(e.Over)) //nolint:gosec // at most 100
			continue
		}
		for i, over := range e.Over {
			if len(rows) == maxExceededQuotas {
				omitted += int32(len(e.Over) - i) //nolint:gosec // at most 100
				break
			}
			rows = append(rows, hnc.ExceededQuota{
				Namespace: e.Namespace, Name: e.Name, Resource: string(over.Resource),
				Used: over.Used.String(), Moved: over.Requested.String(), Limit: over.Limit.String(),
			})
		}
	}
	return rows, omitted
}
