package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// maxListedQuotas is how many ResourceQuotas of hierarchical quotas are named.
const maxListedQuotas = 20

// quotaObjects returns lines about the ResourceQuotas of hierarchical quotas: nothing removes them, and no quota above
// raises their limits any more.
func quotaObjects(ctx context.Context, c *Clients) ([]string, error) {
	resource, selector := corev1.SchemeGroupVersion.WithResource("resourcequotas"), hnc.LabelQuota+"=true"
	count, err := countAll(ctx, c, resource, selector)
	if apierrors.IsForbidden(err) {
		return []string{"resourcequotas of hierarchical quotas, whose number is not known: " + string(apierrors.ReasonForError(err))}, nil
	}
	if err != nil || count == 0 {
		return nil, err
	}
	found, err := c.metadata.Resource(resource).List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: maxListedQuotas})
	if err != nil {
		return nil, err
	}
	first := make([]string, 0, len(found.Items))
	for _, object := range found.Items {
		first = append(first, object.Namespace+"/"+object.Name)
	}
	return []string{
		fmt.Sprintf("%d resourcequotas of hierarchical quotas, each of which limits its namespace from then on: %s", count, names.AndMore(first, count, ", ")),
		fmt.Sprintf("  to delete them after the removal: kubectl delete resourcequotas -A -l %s", selector),
	}, nil
}
