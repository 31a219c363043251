package quota

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The quotas of a namespace fit in the order of their names.
func TestConcurrentQuotasTakeNoRoomOfOneThatIsStored(t *testing.T) {
	tree(t, "room-", "team")
	limit(t, "room-team", "limits", "pods=5")
	eve := editorIn(t, "room-eve", "room-team")
	create := func(ctx context.Context, i int) error {
		q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a", i)}}
		q.Spec.Hard = hnc.ResourceList(limits("pods=5"))
		q.Spec.ScopeSelector = &v1beta1.QuotaScopeSelector{MatchExpressions: []v1beta1.QuotaScopeRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{q.Name}}}}
		_, err := eve.HNC.HncV1beta1().HierarchicalResourceQuotas("room-team").Create(ctx, q, metav1.CreateOptions{})
		return err
	}
	suite.Eventually(t, "a quota of an editor", func() error { return create(t.Context(), 0) })
	var accepted atomic.Int64
	g, ctx := errgroup.WithContext(t.Context())
	for i := range quota.MaxChainScopes + 4 {
		g.Go(func() error {
			err := create(ctx, i+1)
			if err == nil {
				accepted.Add(1)
			} else if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "21 different combinations of scopes") {
				err = nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := accepted.Load(); got != quota.MaxChainScopes-2 {
		t.Errorf("%d concurrent quotas are accepted beside two, want as many as fit", got)
	}
	suite.EventuallyEqual(t, "the first quota", hnc.ReasonQuotaReserved, func() string {
		if c := meta.FindStatusCondition(get(t, "room-team", "limits").Status.Conditions, hnc.ConditionReady); c != nil {
			return c.Reason
		}
		return ""
	})
}
