package quota

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
)

// FuzzScope names ResourceQuotas for any scopes. The names are valid, lead back to the scope, and do not depend on any
// order.
func FuzzScope(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"scopes":["Terminating","BestEffort"]}`, `{"scopes":["Terminating","Terminating"],"scopeSelector":{}}`,
		`{"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a","b","a"]},{"scopeName":"\n","operator":"Exists"}]}}`,
	} {
		f.Add([]byte(seed), "hrq.hnc.x-k8s.io.00")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		spec := &hnc.HierarchicalResourceQuotaSpec{}
		if json.Unmarshal(data, spec) != nil {
			return
		}
		scope := ScopeOf(spec)
		if problems := utilvalidation.IsDNS1123Subdomain(scope.ObjectName()); len(problems) > 0 {
			t.Errorf("%s: the name %q is invalid: %v", data, scope.ObjectName(), problems)
		}
		if back, ok := ScopeOfObject(scope.ObjectName()); !ok || back != scope {
			t.Errorf("%s: the scope %q is %q, %t in the name of its object", data, scope, back, ok)
		}
		reversed := spec.DeepCopy()
		slices.Reverse(reversed.Scopes)
		if reversed.ScopeSelector != nil {
			slices.Reverse(reversed.ScopeSelector.MatchExpressions)
			for i := range reversed.ScopeSelector.MatchExpressions {
				slices.Reverse(reversed.ScopeSelector.MatchExpressions[i].Values)
			}
		}
		if ScopeOf(reversed) != scope {
			t.Errorf("%s: another order is another scope", data)
		}
		if other, ok := ScopeOfObject(name); ok && other.ObjectName() != name {
			t.Errorf("the object %q has the scope of %q", name, other.ObjectName())
		}
	})
}

// FuzzQuantities computes with any quantities that a user may write into a quota, and that use may have. It is fast,
// whatever they are.
func FuzzQuantities(f *testing.F) {
	for _, seed := range [][2]string{
		{"1", "500m"}, {"1e40000000", "1"}, {"-1e2147483647", "1e5000000"}, {"8Ei", "9223372036854775808"}, {"0e2000000000", "1n"},
		{strings.Repeat("7", 3000) + "e1000", "1"}, {"1e-2147483647", "12345678901234567890e2147483647"}, {strings.Repeat("7", 300000) + "e10000000", " 1e-99 "},
		{"1" + strings.Repeat("0", 3000), "1"}, {"123456789012345678e1", "1234567890123456.78k"}, {"0." + strings.Repeat("0", 3000) + "1", "1Ki"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, limit, use string) {
		start := time.Now()
		var lists []corev1.ResourceList
		for _, text := range []string{limit, use} {
			var list hnc.ResourceList
			if json.Unmarshal(fmt.Appendf(nil, `{"requests.memory": %q, "count/jobs.batch": %q}`, text, text), &list) != nil {
				return
			}
			lists = append(lists, corev1.ResourceList(list))
		}
		spec := hnc.HierarchicalResourceQuotaSpec{Hard: lists[0]}
		errs := validation.ValidateQuota(&hnc.HierarchicalResourceQuota{Spec: spec})
		hard, ignored := InForce(lists[0])
		used := lists[1]
		if len(ignored)+len(hard) != len(lists[0]) || len(errs) == 0 && len(ignored) > 0 {
			t.Errorf("%q: in force are %v, ignored %v, and it is invalid because of %v", limit, hard, ignored, errs)
		}
		// kube-apiserver takes what is in force: it decodes what is stored, rounds it, and validates that.
		if count, ok := hard["count/jobs.batch"]; ok {
			stored := resource.MustParse(count.String())
			if stored.RoundUp(resource.Milli); stored.MilliValue()%1000 != 0 || stored.Sign() < 0 {
				t.Errorf("%q is in force, and kube-apiserver rejects it", limit)
			}
		}
		merged := corev1.ResourceList{}
		for _, list := range []corev1.ResourceList{hard, used} {
			Restrict(merged, list)
		}
		_ = ExceededMessage("a", "q", Exceeding(hard, used, used))
		for _, list := range []corev1.ResourceList{lists[0], used, merged} {
			if _, err := json.Marshal(list); err != nil {
				t.Errorf("%q and %q: %v", limit, use, err)
			}
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.100q and %.100q take %s", limit, use, took)
		}
	})
}
