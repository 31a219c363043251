package permissions

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// quotas limits a tree, changes the limit, and removes it.
func quotas(t *testing.T, namespace string) {
	t.Helper()
	for _, limit := range []string{"7", "9"} {
		apply(t, "hierarchicalresourcequotas", "HierarchicalResourceQuota", namespace, "quota", fmt.Sprintf(`{"hard":{"services":%q}}`, limit))
		eventually(t, "a limit of "+limit, func(ctx context.Context) error {
			q, err := kube.CoreV1().ResourceQuotas(namespace).Get(ctx, "hrq.hnc.x-k8s.io", metav1.GetOptions{})
			if err == nil && ptr.To(q.Spec.Hard["services"]).String() != limit {
				err = fmt.Errorf("it is %v", q.Spec.Hard)
			}
			return err
		})
		eventually(t, "the status", func(ctx context.Context) error {
			q, err := objects.Resource(ours("hierarchicalresourcequotas")).Namespace(namespace).Get(ctx, "quota", metav1.GetOptions{})
			if err == nil && q.Object["status"] == nil {
				err = fmt.Errorf("none: %v", q.Object)
			}
			return err
		})
	}
	if err := objects.Resource(ours("hierarchicalresourcequotas")).Namespace(namespace).Delete(t.Context(), "quota", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no limit", func(ctx context.Context) error {
		err := second(kube.CoreV1().ResourceQuotas(namespace).Get(ctx, "hrq.hnc.x-k8s.io", metav1.GetOptions{}))
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there: %w", err)
	})
}
