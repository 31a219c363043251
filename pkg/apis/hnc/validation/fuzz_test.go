package validation

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// FuzzQuota validates any spec of a quota. A valid one has limits that are not negative, and names that are those of
// resources.
func FuzzQuota(f *testing.F) {
	for _, seed := range []string{
		`{"hard":{"pods":"1","requests.cpu":"1e3","limits.memory":"1.5Gi","count/deployments.apps":"2k","requests.nvidia.com/gpu":"1","count/subnamespaces.hnc.x-k8s.io":"3"}}`,
		`{"hard":{"gold.storageclass.storage.k8s.io/requests.storage":"1","hugepages-2Mi":"4Mi","count/":"1","/":"1","":"0"}}`,
		`{"hard":{"pods":"-1"},"scopes":["Terminating","NotTerminating"]}`, `{"hard":{"pods":"0.5"},"scopes":["BestEffort"]}`,
		`{"hard":{"cpu":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a",""]},{"scopeName":"x","operator":"Exists","values":["b"]}]}}`,
		`{"hard":{"pods":"1e99999"}}`, `{"scopeSelector":{}}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q := &hnc.HierarchicalResourceQuota{}
		if json.Unmarshal(data, &q.Spec) != nil {
			return
		}
		errs := ValidateQuota(q)
		for _, err := range errs {
			if err.Field == "" || err.Error() == "" {
				t.Errorf("%s: an error without a field: %v", data, err)
			}
		}
		if len(ValidateQuotaUpdate(q, q.DeepCopy())) > 0 {
			t.Errorf("%s: an unchanged quota is invalid", data)
		}
		if len(errs) > 0 {
			return
		}
		for name, limit := range q.Spec.Hard {
			if limit.Sign() < 0 || len(validation.IsQualifiedName(string(name))) > 0 {
				t.Errorf("%s: %s=%s is valid", data, name, limit.String())
			}
		}
	})
}

// FuzzNames validates names wherever a spec has some. What is valid is the name of a namespace.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"a", "", "a.b", "A", "a-", "0", "kube-system", "a\x00", "é", "xn--", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		h := &hnc.Hierarchy{Spec: hnc.HierarchySpec{RequiredChildren: []string{name, other}}}
		h.Name = hnc.Singleton
		abstract := &hnc.Hierarchy{Spec: hnc.HierarchySpec{AbstractAncestors: []string{name, other}}}
		abstract.Name = hnc.Singleton
		valid := len(validation.IsDNS1123Label(name)) == 0 && len(validation.IsDNS1123Label(other)) == 0 && name != other
		for what, h := range map[string]*hnc.Hierarchy{"required children": h, "abstract ancestors": abstract} {
			if errs := ValidateHierarchy(h, nil); len(errs) == 0 && !valid {
				t.Errorf("%s %q and %q are valid", what, name, other)
			}
		}
	})
}
