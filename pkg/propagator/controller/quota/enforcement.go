package quota

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/quotas"
)

// allows returns what a quota allows a namespace by itself. The lock must be held when the result is called.
func (c *Controller) allows(string) func(*quotas.Quota) corev1.ResourceList {
	return func(q *quotas.Quota) corev1.ResourceList { return q.Counted }
}

// inForce returns the status, the reason and the message of the condition Enforced when all namespaces are held to their limits.
func (c *Controller) inForce() (status metav1.ConditionStatus, reason, message string) {
	return metav1.ConditionTrue, hnc.ReasonQuotaEventual, "each namespace is held to the limits"
}
