package quota

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// Mode is how the sum of the use in a subtree is limited.
type Mode string

const (
	// Reserve has our API server reserve use before kube-apiserver records it, so the sum never exceeds a limit.
	Reserve Mode = "Reserve"
	// Eventual lowers the limit of each namespace to what the others leave, about a second after they have used it. It
	// needs no webhook.
	Eventual Mode = "Eventual"
)

// ParseMode returns the mode of that name.
func ParseMode(name string) (Mode, error) {
	if mode := Mode(name); mode == Reserve || mode == Eventual {
		return mode, nil
	}
	return "", fmt.Errorf("must be %s or %s", Reserve, Eventual)
}

// plan returns what to write in a namespace, and whether it is held to its limits already. The lock must be held.
func (c *Controller) plan(s *cache.State, namespace string) (writes []write, held bool) {
	if s.Quotas.Empty() {
		return nil, true
	}
	writes, computed := planFor(s, namespace, c.allows(s, namespace))
	if c.config.Mode == Reserve {
		return writes, len(writes) == 0 && computed
	}
	// The limits of namespaces follow the use of others. What matters is that all resources are limited.
	for _, w := range writes {
		if !w.adjusts() {
			return writes, false
		}
	}
	for _, o := range s.Quotas.ObjectsIn(namespace) {
		if !sameResources(o.Hard, o.Enforced) {
			return writes, false
		}
	}
	return writes, true
}

// Differs reports whether ResourceQuotas would be created, deleted or changed, other than to follow the use of
// namespaces.
func Differs(c *Controller, s *cache.State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(s.Tree.Names(), func(namespace string) bool {
		writes, _ := c.plan(s, namespace)
		return slices.ContainsFunc(writes, func(w write) bool { return !w.adjusts() })
	})
}

// allows returns what a quota allows a namespace by itself. The lock must be held when the result is called.
func (c *Controller) allows(s *cache.State, namespace string) func(*quotas.Quota) corev1.ResourceList {
	if c.config.Mode == Reserve {
		return func(q *quotas.Quota) corev1.ResourceList { return q.Counted }
	}
	return func(q *quotas.Quota) corev1.ResourceList {
		tally := c.tallies.of(s, q)
		return remaining(q.Counted, tally.total, tally.used[namespace])
	}
}

// remaining returns the limits for a namespace that uses used, while its whole subtree uses total: its own use, and
// what is left.
func remaining(hard, total, used corev1.ResourceList) corev1.ResourceList {
	allowed := corev1.ResourceList{}
	for name, limit := range hard {
		left := limit.DeepCopy()
		left.Sub(total[name])
		if left.Sign() < 0 {
			left = resource.Quantity{Format: limit.Format}
		}
		left.Add(used[name])
		// kube-apiserver takes some large integers for fractions, but not the limit.
		if left.Cmp(limit) > 0 || !hnc.CountableAs(name, left) {
			left = limit
		}
		allowed[name] = left
	}
	return allowed
}

// inForce returns the status, the reason and the message of the condition Ready of a quota all of whose namespaces
// are held to their limits.
func inForce(q *quotas.Quota, mode Mode, reserves bool) (status metav1.ConditionStatus, reason, message string) {
	switch {
	case len(q.Counted) == 0:
		return metav1.ConditionTrue, hnc.ReasonQuotaReserved, "sub-namespaces are counted when they are created and moved"
	case mode == Eventual:
		return metav1.ConditionTrue, hnc.ReasonQuotaEventual, "each namespace is limited to what the others leave; concurrent creations in several namespaces may exceed a limit"
	case !reserves:
		return metav1.ConditionFalse, hnc.ReasonPending, hnc.MessageQuotaWebhookPending
	}
	return metav1.ConditionTrue, hnc.ReasonQuotaReserved, "use is reserved before it is recorded, so that the sum does not exceed a limit"
}
