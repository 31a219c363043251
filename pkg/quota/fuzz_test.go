package quota

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// FuzzScope names ResourceQuotas for any scopes. The names are valid, lead back to the scope, and do not depend on any order.
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
		if problems := validation.IsDNS1123Subdomain(scope.ObjectName()); len(problems) > 0 {
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
