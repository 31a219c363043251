package quota

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

func pods(n string) corev1.ResourceList {
	if n == "" {
		return nil
	}
	return corev1.ResourceList{corev1.ResourcePods: resource.MustParse(n)}
}

func TestANamespaceIsLimitedToItsUseAndWhatIsLeft(t *testing.T) {
	for what, test := range map[string]struct{ hard, total, used, want string }{
		"nothing is used":           {"5", "", "", "5"},
		"it uses everything":        {"5", "5", "5", "5"},
		"others use some":           {"5", "3", "1", "3"},
		"others use everything":     {"5", "5", "0", "0"},
		"over the limit, unused":    {"5", "9", "", "0"},
		"over the limit, used here": {"5", "9", "2", "2"},
		"it alone exceeds":          {"5", "9", "9", "5"},
		// kube-apiserver takes 10P - 1 and 2E - 1 for fractions.
		"others use some of 10P": {"10P", "1", "0", "10P"},
		"others use some of 2E":  {"2E", "1", "0", "2E"},
	} {
		if got := remaining(pods(test.hard), pods(test.total), pods(test.used)); !equality.Semantic.DeepEqual(got, pods(test.want)) {
			t.Errorf("%s: %v, want %s", what, got, test.want)
		}
	}
}

func TestTotalsFollowEachNamespace(t *testing.T) {
	tally := newTally()
	for _, step := range []struct{ namespace, used, total string }{
		{"a", "2", "2"}, {"b", "3", "5"}, {"a", "1", "4"}, {"b", "", "1"}, {"a", "", "0"},
	} {
		tally.set(step.namespace, pods(step.used))
		if got := tally.totals(pods("9")); !equality.Semantic.DeepEqual(got, pods(step.total)) {
			t.Errorf("after %s uses %q: %v, want %s", step.namespace, step.used, got, step.total)
		}
	}
	if len(tally.used) > 0 {
		t.Errorf("it remembers %v", tally.used)
	}
}

// The status would otherwise differ from the stored one for ever.
func TestTotalsBeyondTheLargestNumberAreWrittenExactly(t *testing.T) {
	tally := newTally()
	tally.set("a", pods("7Ei"))
	tally.set("b", pods("7Ei"))
	totals := tally.totals(pods("1"))
	encoded, err := json.Marshal(totals)
	if err != nil {
		t.Fatal(err)
	}
	var stored corev1.ResourceList
	if err := json.Unmarshal(encoded, &stored); err != nil || !equality.Semantic.DeepEqual(stored, totals) {
		got := stored[corev1.ResourcePods]
		t.Errorf("%s is read as %s, %v", encoded, got.AsDec(), err)
	}
}

func TestMovedNamespacesAreCountedAgainByBothQuotas(t *testing.T) {
	old, governing := &quotas.Quota{Key: quotas.Key{Namespace: "old", Name: "q"}}, &quotas.Quota{Key: quotas.Key{Namespace: "new", Name: "q"}}
	ts := newTallies()
	ts.add(old.Key, nil)
	ts.add(governing.Key, nil)
	ts.counting["moved"] = sets.New(old.Key)
	affected := ts.outdate("moved", []*quotas.Quota{governing})
	if len(affected) != 2 || !ts.byQuota[old.Key].outdated.Has("moved") || !ts.byQuota[governing.Key].outdated.Has("moved") {
		t.Errorf("affected are %v", affected)
	}
}
