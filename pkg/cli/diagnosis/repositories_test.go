package diagnosis

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

func TestRepositorySyncs(t *testing.T) {
	sync := func(name string, generation int64, status metav1.ConditionStatus) v1alpha3.RepositorySync {
		s := v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation}}
		if status != "" {
			s.Status.Conditions = []metav1.Condition{{Type: hnc.ConditionReady, Status: status, Message: "2 of 7 writes have failed", ObservedGeneration: 1}}
		}
		return s
	}
	ready := sync("ready", 1, metav1.ConditionTrue)
	for name, test := range map[string]struct {
		sync     v1alpha3.RepositorySync
		severity Severity
		text     string
	}{
		"ready":              {ready, OK, "2, and all are synced"},
		"failed":             {sync("policy", 1, metav1.ConditionFalse), Warning, "1 of 2 are not synced: policy: 2 of 7 writes have failed"},
		"of an earlier spec": {sync("policy", 2, metav1.ConditionTrue), Warning, "policy: hns-sync has not reported the present spec yet"},
		"new":                {sync("policy", 1, ""), Warning, "policy: hns-sync has not reported the present spec yet"},
	} {
		expect(t, name, RepositorySyncs([]v1alpha3.RepositorySync{ready, test.sync}), test.severity, test.text)
	}
}
