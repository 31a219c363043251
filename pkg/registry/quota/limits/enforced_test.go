package limits

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

func none(string) bool { return false }

// The propagator reports the quotas that fit as Ready: whoever creates something below one relies on it. An
// administrator excludes namespaces that have quotas.
func TestQuotasThatFitForThePropagatorAreEnforced(t *testing.T) {
	for seed := range int64(30) {
		r := rand.New(rand.NewSource(seed))
		var lines, names []string
		var stored []hnc.HierarchicalResourceQuota
		parents, excluded, fitting := map[string]string{}, map[string]bool{}, quotas.New()
		for i := range 12 {
			name := fmt.Sprint("n", i)
			if excluded[name] = r.Intn(4) == 0; excluded[name] {
				lines = append(lines, "ns "+name+" label off=")
			} else {
				lines = append(lines, "ns "+name)
			}
			if i > 0 && r.Intn(8) > 0 {
				parents[name] = names[max(0, i-1-r.Intn(3))]
				lines = append(lines, "parent "+name+" "+parents[name])
			}
			names = append(names, name)
			for j := range r.Intn(9) {
				q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: fmt.Sprint("q", j), ResourceVersion: "1"}}
				q.Spec.Hard = hnc.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
				q.Spec.ScopeSelector = &v1beta1.QuotaScopeSelector{MatchExpressions: []v1beta1.QuotaScopeRequirement{
					{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{fmt.Sprint(r.Intn(40))}}}}
				var hub hnc.HierarchicalResourceQuota
				if err := v1beta1.Convert_v1beta1_HierarchicalResourceQuota_To_hnc_HierarchicalResourceQuota(q, &hub, nil); err != nil {
					t.Fatal(err)
				}
				cached, err := quotas.NewQuota(q)
				if err != nil {
					t.Fatal(err)
				}
				stored = append(stored, hub)
				fitting.SetQuota(cached)
			}
		}
		tree, known := treetest.New(lines...), New(1, stored...)
		for _, name := range names {
			var chain []string
			for at := name; at != ""; at = parents[at] {
				chain = append(chain, at)
			}
			enforced := known.Enforced(chain, func(at string) bool { return excluded[at] })
			for _, q := range known.In(name) {
				fits := !excluded[name] && fitting.Fits(tree, fitting.Quota(quotas.Key{Namespace: name, Name: q.Name}))
				if got := slices.Contains(enforced[name].Of(q.Scope()), q); got != fits {
					t.Fatalf("seed %d: %s/%s: enforced: %t, fits: %t\n%v", seed, name, q.Name, got, fits, lines)
				}
			}
		}
	}
}
