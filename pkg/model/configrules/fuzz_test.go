package configrules

import (
	"encoding/json"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// FuzzRules validates any spec.rules. What is valid does not make our own keys managed, and defaults mean the same.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"excludedNamespaces":["kube-system",""],"includedNamespaceRegex":"a|b","excludedNamespaceSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b","c"]}]}}`,
		`{"managedNamespaceLabels":[".*","(?i)TEAM","pod-security.kubernetes.io/enforce"],"managedNamespaceAnnotations":["a/b"],"stripTrackingMetadata":false}`,
		`{"skippedObjects":[{"matchLabels":{"a":"b","a/b/c":"d"}},{}],"droppedLabels":["a*","hnc.x-k8s.io/x"],"droppedAnnotations":["*","a.b/*"]}`,
		`{"includedNamespaceRegex":"(a{1000}){1000}","excludedNamespaceSelector":{"matchLabels":{"a":"b=c"}}}`, `{"includedNamespaceRegex":"a)|(b"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spec := &v1beta1.Rules{}
		if json.Unmarshal(data, spec) != nil {
			return
		}
		rules, errs := Of(spec)
		if len(errs) > 0 {
			return
		}
		for _, key := range []string{hnc.LabelInheritedFrom, hnc.TreeLabel("a"), hnc.AnnotationSubnamespaceOf} {
			if rules.Managed.Label(key) || rules.Managed.Annotation(key) {
				t.Errorf("%s makes %s managed", data, key)
			}
		}
		again, errs := Of(Defaulted(spec))
		if len(errs) > 0 || !again.Equal(rules) {
			t.Errorf("%s: defaults change what it means: %v", data, errs)
		}
	})
}
