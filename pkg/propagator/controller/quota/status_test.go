package quota

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// many returns a quantity of each of n resources with the longest names.
func many(n int, quantity string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := range n {
		list[corev1.ResourceName(fmt.Sprintf("%s%03d/%s", strings.Repeat("d", 250), i, strings.Repeat("n", 63)))] = resource.MustParse(quantity)
	}
	return list
}

func TestStatusIsBounded(t *testing.T) {
	const namespaces = 300
	for name, test := range map[string]struct {
		resources, listed int
	}{
		"few resources":  {1, maxNamespaces},
		"many resources": {100, 2},
	} {
		q := &quotas.Quota{Key: quotas.Key{Namespace: "top", Name: "q"}, Hard: many(test.resources, "1"), Counted: many(test.resources, "1")}
		c := &Controller{config: Config{Mode: Eventual}, webhook: &registrar{mode: Eventual}, tallies: newTallies(), pending: sets.New[string]()}
		c.tallies.add(q.Key, nil)
		for i := range namespaces {
			c.tallies.byQuota[q.Key].set(fmt.Sprintf("n-%03d", i), many(test.resources, "123456789Mi"))
		}
		var status v1beta1.HierarchicalResourceQuotaStatus
		cache.New(cache.Config{Managed: managedkeys.Default()}).Read(func(s *cache.State) { status = c.statusOf(s, q, metav1.Now()) })
		encoded, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(status.Namespaces); n != test.listed || n+int(status.OmittedNamespaces) != namespaces {
			t.Errorf("%s: %d namespaces are listed and %d omitted, want %d of %d", name, n, status.OmittedNamespaces, test.listed, namespaces)
		}
		if len(encoded) > 256<<10 {
			t.Errorf("%s: the status has %d bytes", name, len(encoded))
		}
		for _, condition := range status.Conditions {
			if len(condition.Message) > 32<<10 {
				t.Errorf("%s: the message of %s has %d bytes, which is not valid", name, condition.Type, len(condition.Message))
			}
		}
	}
}

func TestSizeOfUseIsThatOfItsJSON(t *testing.T) {
	use := v1beta1.NamespaceUse{Namespace: "a", Used: hnc.ResourceList(many(3, "5Gi"))}
	encoded, err := json.Marshal(use)
	if err != nil {
		t.Fatal(err)
	}
	if got := useBytes(use.Namespace, use.Used); got != len(encoded)+len(",")+len(",") {
		t.Errorf("got %d bytes, want about %d", got, len(encoded))
	}
}

// A request waits for the status that says whether its limits are in force, so that one is not delayed.
func TestTheFirstDecisionAboutAGenerationIsNotDelayed(t *testing.T) {
	status := func(generation int64, reason string) v1beta1.HierarchicalResourceQuotaStatus {
		return v1beta1.HierarchicalResourceQuotaStatus{Conditions: []metav1.Condition{{Type: hnc.ConditionReady, Reason: reason, ObservedGeneration: generation}}}
	}
	for name, test := range map[string]struct {
		old, wanted v1beta1.HierarchicalResourceQuotaStatus
		want        bool
	}{
		"in force":                    {status(2, hnc.ReasonPending), status(2, hnc.ReasonQuotaReserved), true},
		"in force at once":            {status(1, hnc.ReasonQuotaReserved), status(2, hnc.ReasonQuotaReserved), true},
		"the first status":            {v1beta1.HierarchicalResourceQuotaStatus{}, status(2, hnc.ReasonQuotaReserved), true},
		"impossible":                  {status(2, hnc.ReasonPending), status(2, hnc.ReasonQuotaWriteFailed), true},
		"pending":                     {status(1, hnc.ReasonQuotaReserved), status(2, hnc.ReasonPending), false},
		"other use":                   {status(2, hnc.ReasonQuotaReserved), status(2, hnc.ReasonQuotaReserved), false},
		"in force after it could not": {status(2, hnc.ReasonQuotaWriteFailed), status(2, hnc.ReasonQuotaReserved), false},
	} {
		if got := says(test.wanted, 2) && !says(test.old, 2); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
