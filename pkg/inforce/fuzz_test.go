package inforce

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// FuzzRules validates any spec.rules. What is valid can be applied, what can be applied is valid, and neither makes our
// own keys managed.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"excludedNamespaces":["kube-system",""],"includedNamespaceRegex":"a|b","excludedNamespaceSelector":"a in (b, c),!d"}`,
		`{"managedNamespaceLabels":[".*","(?i)TEAM","pod-security.kubernetes.io/enforce"],"managedNamespaceAnnotations":["a/b"],"stripTrackingMetadata":false}`,
		`{"noPropagationLabels":["a=b","a/b/c=d","x="],"unpropagatedLabels":["a*","hnc.x-k8s.io/x"],"unpropagatedAnnotations":["*","a.b/*"]}`,
		`{"includedNamespaceRegex":"(a{1000}){1000}","excludedNamespaceSelector":"a=b=c"}`, `{"includedNamespaceRegex":"a)|(b"}`,
	} {
		f.Add([]byte(seed))
	}
	flags := NewFlags()
	f.Fuzz(func(t *testing.T, data []byte) {
		spec := &v1beta1.Rules{}
		if json.Unmarshal(data, spec) != nil {
			return
		}
		errs := flags.ValidateSpec(spec, field.NewPath("spec", "rules"))
		rules, err := flags.With(spec)
		if (err == nil) != (len(errs) == 0) {
			t.Fatalf("%s: applied with error %v, validated with %v", data, err, errs)
		}
		if err != nil {
			return
		}
		for _, key := range []string{hnc.LabelInheritedFrom, hnc.TreeLabel("a"), hnc.AnnotationSubnamespaceOf} {
			if rules.Managed.Label(key) || rules.Managed.Annotation(key) {
				t.Errorf("%s makes %s managed", data, key)
			}
		}
		again, err := flags.With(rules.Report)
		if err != nil || !again.Equal(rules) {
			t.Errorf("%s: what is reported is not what applies: %v, %v, %v", data, rules.Report, again, err)
		}
	})
}
