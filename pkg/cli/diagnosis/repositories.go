package diagnosis

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// SyncReady returns the condition Ready of a RepositorySync, which is Unknown until hns-sync has observed the present
// spec. It does not age: Leader reports whether hns-sync runs.
func SyncReady(s *v1alpha3.RepositorySync) metav1.Condition {
	c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
	if c == nil || c.ObservedGeneration < s.Generation {
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "Pending", Message: "hns-sync has not reported the present spec yet; if this persists, check that it runs"}
	}
	return *c
}

// RepositorySyncs reports the RepositorySyncs that are not Ready: nothing corrects what others change.
func RepositorySyncs(syncs []v1alpha3.RepositorySync) Finding {
	var reasons []string
	for i := range syncs {
		if ready := SyncReady(&syncs[i]); ready.Status != metav1.ConditionTrue {
			reasons = append(reasons, syncs[i].Name+": "+ready.Message)
		}
	}
	return some("repositorysyncs", reasons, len(syncs), "are synced", "are not synced", "kubectl hns repo status")
}
