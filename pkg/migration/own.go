package migration

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
)

// What hns does and has written besides what it stores, which the way back from the export ends.

// stopOwn scales hns-propagator and hns-sync to zero, and waits until no replica leads. hns-sync stays stopped: it
// would write hierarchies, which hns-apiserver rejects beside HNC, and objects in HNC's trees.
func (m *Migration) stopOwn(ctx context.Context) error {
	replicas, err := m.replicas(ctx, hnc.SystemNamespace, hnc.SyncName)
	if err != nil {
		return err
	}
	if replicas > 0 {
		if err := m.printf("hns-sync stays stopped; after another migration: kubectl scale deployment %s -n %s --replicas=%d\n", hnc.SyncName, hnc.SystemNamespace, replicas); err != nil {
			return err
		}
	}
	for _, name := range []string{hnc.PropagatorName, hnc.SyncName} {
		if err := m.scaleIn(ctx, hnc.SystemNamespace, name, 0); gone(err) != nil {
			return err
		}
		if err := m.awaitNoLeader(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// awaitNoLeader waits until no replica of a server leads. Clocks may differ, so a leader is gone when it has not
// renewed its lease for the time of the lease.
func (c *clients) awaitNoLeader(ctx context.Context, name string) error {
	leader, renewed, since := "", time.Time{}, time.Now()
	err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, stopTimeout, true, func(ctx context.Context) (bool, error) {
		lease, err := c.kube.CoordinationV1().Leases(hnc.SystemNamespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return apierrors.IsNotFound(err), gone(err)
		}
		if leader = ptr.Deref(lease.Spec.HolderIdentity, ""); leader == "" || lease.Spec.RenewTime == nil {
			return true, nil
		}
		if !lease.Spec.RenewTime.Time.Equal(renewed) {
			renewed, since = lease.Spec.RenewTime.Time, time.Now()
		}
		return time.Since(since) > time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 15))*time.Second, nil
	})
	return waitError(ctx, err, "after %s, %s still leads %s; stop it", stopTimeout, leader, name)
}

// removeScopedQuotas deletes the ResourceQuotas of quotas with scopes, which nothing would update any more. HNC takes
// over the others.
func (m *Migration) removeScopedQuotas(ctx context.Context) error {
	found, err := m.kube.CoreV1().ResourceQuotas("").List(ctx, metav1.ListOptions{LabelSelector: hnc.LabelQuota + "=true"})
	if err != nil {
		return err
	}
	return each.Of(ctx, found.Items, func(ctx context.Context, q corev1.ResourceQuota) error {
		if !strings.HasPrefix(q.Name, hnc.ResourceQuotaName+".") {
			return nil
		}
		return m.removeQuota(ctx, q.Namespace, q.Name)
	})
}

// removeQuota deletes a ResourceQuota. API servers enforce a policy for a moment after it is removed.
func (m *Migration) removeQuota(ctx context.Context, namespace, name string) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, freezeTimeout, true, func(ctx context.Context) (bool, error) {
		last = gone(m.kube.CoreV1().ResourceQuotas(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
		if apierrors.IsForbidden(last) {
			return false, nil
		}
		return last == nil, last
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return last
	}
	return err
}
