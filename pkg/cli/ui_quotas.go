package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

func (r *uiReader) Quotas(ctx context.Context) (*ui.Quotas, error) {
	answer := &ui.Quotas{Quotas: []ui.Quota{}}
	list, err := r.clients.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		answer.Notes = append(answer.Notes, "only quotas that you may list are shown: missing permission: "+missingPermission(err))
		if list, err = r.myQuotas(ctx, err); err != nil {
			return nil, err
		}
	case isUnserved(err) && r.factory.serves(v1beta1.SchemeGroupVersion):
		answer.Notes = append(answer.Notes, "this cluster's server has no hierarchical resource quotas")
		return answer, nil
	case err != nil:
		return nil, err
	}
	for i := range list.Items {
		answer.Quotas = append(answer.Quotas, newQuota(&list.Items[i]))
	}
	return answer, nil
}

// myQuotas returns the quotas in the namespaces that the user may see, without those that the user may not list. why is
// the error about all.
func (r *uiReader) myQuotas(ctx context.Context, why error) (*v1beta1.HierarchicalResourceQuotaList, error) {
	mine, err := r.clients.Hierarchy.HncV1alpha3().MyNamespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, why
	}
	lists := make([]v1beta1.HierarchicalResourceQuotaList, len(mine.Items))
	err = inParallel(ctx, len(mine.Items), func(ctx context.Context, i int) error {
		list, err := r.clients.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(mine.Items[i].Name).List(ctx, metav1.ListOptions{})
		if err == nil {
			lists[i] = *list
		}
		if apierrors.IsForbidden(err) {
			return nil
		}
		return err
	})
	all := &v1beta1.HierarchicalResourceQuotaList{}
	for i := range lists {
		all.Items = append(all.Items, lists[i].Items...)
	}
	return all, err
}

func newQuota(q *v1beta1.HierarchicalResourceQuota) ui.Quota {
	quota := ui.Quota{
		Namespace: q.Namespace, Name: q.Name, Limits: []ui.Limit{}, Namespaces: []ui.Use{}, Omitted: q.Status.OmittedNamespaces,
		Scoped: len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil,
	}
	// Limits that are not in force yet have no use.
	hard := q.Status.Hard
	if len(hard) == 0 {
		hard = q.Spec.Hard
	}
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		quota.Limits = append(quota.Limits, newLimit(name, hard[name], q.Status.Used[name]))
	}
	slices.SortStableFunc(quota.Limits, func(a, b ui.Limit) int { return cmp.Compare(b.Share, a.Share) })
	for _, n := range q.Status.Namespaces {
		use := ui.Use{Namespace: n.Namespace, Used: map[string]float64{}}
		for name, quantity := range n.Used {
			use.Used[string(name)] = quantity.AsApproximateFloat64()
		}
		quota.Namespaces = append(quota.Namespaces, use)
	}
	for _, c := range q.Status.Conditions {
		if (c.Type == hnc.ConditionReady) != (c.Status == metav1.ConditionTrue) {
			quota.Problems = append(quota.Problems, c)
		}
	}
	return quota
}

func newLimit(name corev1.ResourceName, hard, used resource.Quantity) ui.Limit {
	limit := ui.Limit{Resource: string(name), Hard: hard.String(), Used: used.String(), Value: hard.AsApproximateFloat64(), Share: 1}
	if limit.Value > 0 {
		limit.Share = used.AsApproximateFloat64() / limit.Value
	}
	return limit
}
