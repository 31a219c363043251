package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func hard(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func manyResources(n int) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := range n {
		list[corev1.ResourceName(fmt.Sprintf("count/a%d", i))] = resource.MustParse("1")
	}
	return list
}

// longResources returns n resources whose names have 300 bytes.
func longResources(n int) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := range n {
		list[corev1.ResourceName(fmt.Sprintf("a%03d.%s/%s", i, strings.Repeat(strings.Repeat("d", 59)+".", 4)[:239], strings.Repeat("n", 55)))] = resource.MustParse("1")
	}
	return list
}

func selector(scope corev1.ResourceQuotaScope, operator corev1.ScopeSelectorOperator, values ...string) *hnc.QuotaScopeSelector {
	return &hnc.QuotaScopeSelector{MatchExpressions: []hnc.QuotaScopeRequirement{{ScopeName: scope, Operator: operator, Values: values}}}
}

// That the verdicts are those of kube-apiserver is tested in test/integration/wire.
func TestQuotas(t *testing.T) {
	pods := hard("pods", "1")
	for name, row := range map[string]struct {
		spec hnc.HierarchicalResourceQuotaSpec
		want string
	}{
		"nothing":          {},
		"limits":           {spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("pods", "1", "limits.cpu", "500m", "count/deployments.apps", "3", "hugepages-2Mi", "1Gi")}},
		"extended":         {spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("requests.nvidia.com/gpu", "1500m", "gold.storageclass.storage.k8s.io/requests.storage", "1Gi")}},
		"subnamespaces":    {spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/subnamespaces.hnc.x-k8s.io", "3")}},
		"a kind of a view": {spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/widgets.example.com.acme-12345.views.hnc.x-k8s.io", "3")}},
		"100":              {spec: hnc.HierarchicalResourceQuotaSpec{Hard: manyResources(100)}},
		"too many": {hnc.HierarchicalResourceQuotaSpec{Hard: manyResources(1000)},
			"spec.hard: Too many: 1000: must have at most 100 items"},
		"negative": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("pods", "-1")},
			`spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0`},
		"half a pod": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("pods", "500m")},
			`spec.hard[pods]: Invalid value: "500m": must be an integer`},
		"half a sub-namespace": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/subnamespaces.hnc.x-k8s.io", "500m")},
			`spec.hard[count/subnamespaces.hnc.x-k8s.io]: Invalid value: "500m": must be an integer`},
		"half an extended resource": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("nvidia.com/gpu", "500m")}, "must be an integer"},
		"unknown": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("nonsense", "1")},
			`spec.hard[nonsense]: Invalid value: "nonsense": is not a resource that quotas limit; use a name such as pods`},
		"no name": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("a//b", "1")}, `spec.hard[a//b]: Invalid value`},
		"objects that are not counted": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/subnamespaceanchors.hnc.x-k8s.io", "1")},
			`spec.hard[count/subnamespaceanchors.hnc.x-k8s.io]: Unsupported value: "count/subnamespaceanchors.hnc.x-k8s.io": supported values: "count/subnamespaces.hnc.x-k8s.io"`},
		"ResourceQuotas": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("resourcequotas", "1")},
			`spec.hard[resourcequotas]: Invalid value: "resourcequotas": would count the ResourceQuotas that enforce quotas, too`},
		"the count of ResourceQuotas": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/resourcequotas", "1")},
			`spec.hard[count/resourcequotas]: Invalid value: "count/resourcequotas": would count the ResourceQuotas`},
		"Roles": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/roles.rbac.authorization.k8s.io", "1")},
			`spec.hard[count/roles.rbac.authorization.k8s.io]: Invalid value: "count/roles.rbac.authorization.k8s.io": would keep out policy`},
		"RoleBindings":    {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/rolebindings.rbac.authorization.k8s.io", "0")}, "LimitRanges are not limited"},
		"NetworkPolicies": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/networkpolicies.networking.k8s.io", "0")}, "LimitRanges are not limited"},
		"an integer that is stored as what Kubernetes takes for a fraction": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("example.com/gpu", "123456789012345678e1")},
			`must be an integer; Kubernetes takes some above 9223372036854775 for fractions`},
		"the largest count":  {spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("secrets", "9223372036854775807")}},
		"the largest number": {spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("limits.memory", "9223372036854775807", "requests.storage", "8Ei")}},
		"more than that": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("limits.memory", "9223372036854775808")},
			"spec.hard[limits.memory]: Invalid value: must be a number between 0 and 9223372036854775807"},
		"too many scopes": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, Scopes: make([]corev1.ResourceQuotaScope, 21)}, "spec.scopes: Too many: 21"},
		"too many values": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "In", make([]string, 60000)...)},
			"spec.scopeSelector.matchExpressions[0].values: Too many: 60000: must have at most 100 items"},
		"long names": {spec: hnc.HierarchicalResourceQuotaSpec{Hard: longResources(27)}},
		"too long names": {hnc.HierarchicalResourceQuotaSpec{Hard: longResources(28)},
			"spec: Too long: may not be more than 8192 bytes in the names of resources and the values of scope selectors"},
		"long values": {spec: hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "In", slices.Repeat([]string{strings.Repeat("x", 63)}, 100)...)}},
		"a value that no label can have": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "NotIn", "high", "not a label value")},
			"spec.scopeSelector.matchExpressions[0].values[1]"},
		"too long values": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "In", strings.Repeat("x", 8<<10))},
			"spec: Too long: may not be more than 8192 bytes"},
		"repeated values, as in ResourceQuotas": {spec: hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "In", make([]string, 100)...)}},
		"thousands of empty values": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: &hnc.QuotaScopeSelector{
			MatchExpressions: slices.Repeat(selector("PriorityClass", "In", make([]string, 100)...).MatchExpressions, 20)}},
			"spec: Too long: may not be more than 8192 bytes"},
		"scopes": {spec: hnc.HierarchicalResourceQuotaSpec{Hard: pods, Scopes: []corev1.ResourceQuotaScope{"BestEffort", "Terminating"}}},
		"an unknown scope": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, Scopes: []corev1.ResourceQuotaScope{"x"}},
			`spec.scopes[0]: Unsupported value: "x": supported values: "BestEffort"`},
		"a scope of other resources": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("secrets", "1"), Scopes: []corev1.ResourceQuotaScope{"BestEffort"}},
			`spec.scopes[0]: Invalid value: "BestEffort": does not apply to resource secrets`},
		"scopes of which each excludes the other": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, Scopes: []corev1.ResourceQuotaScope{"BestEffort", "NotBestEffort"}},
			"no pod matches both BestEffort and NotBestEffort; remove one"},
		"scopes of sub-namespaces": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/subnamespaces.hnc.x-k8s.io", "3"), Scopes: []corev1.ResourceQuotaScope{"Terminating"}},
			"spec.hard[count/subnamespaces.hnc.x-k8s.io]: Forbidden: scopes do not apply to sub-namespaces"},
		"a selector of sub-namespaces": {hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/subnamespaces.hnc.x-k8s.io", "3"), ScopeSelector: selector("PriorityClass", "Exists")},
			"scopes do not apply to sub-namespaces"},
		"an empty selector of sub-namespaces": {spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("count/subnamespaces.hnc.x-k8s.io", "3"), ScopeSelector: &hnc.QuotaScopeSelector{}}},
		"a selector":                          {spec: hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "In", "high")}},
		"a selector without values": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "In")},
			"spec.scopeSelector.matchExpressions[0].values: Required value: operator In needs at least one value"},
		"a selector with too many values": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "Exists", "a")},
			"spec.scopeSelector.matchExpressions[0].values: Invalid value"},
		"an unknown operator": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("PriorityClass", "Is")},
			`spec.scopeSelector.matchExpressions[0].operator: Unsupported value: "Is"`},
		"a selector of scopes without values": {hnc.HierarchicalResourceQuotaSpec{Hard: pods, ScopeSelector: selector("BestEffort", "DoesNotExist")},
			`spec.scopeSelector.matchExpressions[0].operator: Invalid value: "DoesNotExist": must be Exists for scope BestEffort`},
	} {
		t.Run(name, func(t *testing.T) {
			q := &hnc.HierarchicalResourceQuota{Spec: row.spec}
			err := ValidateQuota(q).ToAggregate()
			if (err == nil) != (row.want == "") || (err != nil && !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if errs := ValidateQuotaUpdate(q, q.DeepCopy()); len(errs) > 0 {
				t.Errorf("unchanged: %v", errs)
			}
			if errs := ValidateQuotaUpdate(q, &hnc.HierarchicalResourceQuota{Spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard("pods", "2")}}); (len(errs) > 0) != (row.want != "") {
				t.Errorf("changed: %v", errs)
			}
		})
	}
}

func TestLimitsOfEarlierVersionsDoNotKeepOthersFromBeingChanged(t *testing.T) {
	for name, stored := range map[string]hnc.HierarchicalResourceQuotaSpec{
		"a number":           {Hard: hard("services", "2", "pods", "10E")},
		"a resource":         {Hard: hard("services", "2", "count/rolebindings.rbac.authorization.k8s.io", "1")},
		"too many resources": {Hard: manyResources(200)},
		"too long names":     {Hard: longResources(100)},
		"no label value":     {Hard: hard("requests.storage", "2"), ScopeSelector: selector("VolumeAttributesClass", "In", strings.Repeat("x", 64))},
		"too many values":    {Hard: hard("requests.storage", "2"), ScopeSelector: selector("VolumeAttributesClass", "In", make([]string, 200)...)},
	} {
		t.Run(name, func(t *testing.T) {
			old := &hnc.HierarchicalResourceQuota{Spec: stored}
			for resourceName := range stored.Hard {
				q := old.DeepCopy()
				q.Spec.Hard[resourceName] = resource.MustParse("3")
				want := ""
				if strings.Contains(string(resourceName), "rolebindings") {
					want = "would keep out"
				}
				if err := ValidateQuotaUpdate(q, old).ToAggregate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("another %s: got %v, want %q", resourceName, err, want)
				}
				q.Spec.Hard[resourceName] = resource.MustParse("-3")
				if errs := ValidateQuotaUpdate(q, old); len(errs) == 0 {
					t.Errorf("a negative %s is accepted", resourceName)
				}
			}
		})
	}
}
