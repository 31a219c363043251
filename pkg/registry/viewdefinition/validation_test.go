package viewdefinition

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	names    = `"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"}`
	schema   = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}`
	versions = `"versions":[{"name":"v1","served":true,"storage":true,` + schema + `}]`
)

// definition returns a ViewDefinition with the fields of a spec, of which later ones replace earlier ones.
func definition(name, spec string) *hnc.ViewDefinition {
	v := &hnc.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "acme"}, Spec: runtime.RawExtension{Raw: []byte(spec)}}
	canonicalize(v)
	return v
}

func spec(group, scope, more string) string {
	return fmt.Sprintf(`{"group":%q,"scope":%q,%s,%s%s}`, group, scope, names, versions, more)
}

func TestDefinitionsAreValidated(t *testing.T) {
	long := strings.Repeat("a", 60) + "." + strings.Repeat("b", 60) + "." + strings.Repeat("c", 60) + "." + strings.Repeat("d", 40)
	rules := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"f%d":{"type":"boolean","x-kubernetes-validations":[{"rule":"self"}]}`, i))
		}
		return `"type":"object","properties":{` + strings.Join(all, ",") + `}`
	}
	for _, test := range []struct {
		what, name, spec string
		// want are parts of the error; none means that the definition is valid.
		want []string
	}{
		{"valid", "widgets.example.com", spec("example.com", "Namespaced", ""), nil},
		{"no conversion", "widgets.example.com", spec("example.com", "Namespaced", `,"conversion":{"strategy":"None"}`), nil},
		{"another name", "gadgets.example.com", spec("example.com", "Namespaced", ""), []string{"metadata.name", "widgets.example.com"}},
		{"cluster-scoped", "widgets.example.com", spec("example.com", "Cluster", ""), []string{"spec.scope", "Namespaced"}},
		{"a webhook", "widgets.example.com", spec("example.com", "Namespaced", `,"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"]}}`), []string{"spec.conversion.strategy"}},
		{"a reserved group", "widgets.apps.k8s.io", spec("apps.k8s.io", "Namespaced", ""), []string{"spec.group", "k8s.io and its subdomains are reserved"}},
		{"another one", "widgets.kubernetes.io", spec("kubernetes.io", "Namespaced", ""), []string{"spec.group"}},
		{"ours", "widgets.hnc.x-k8s.io", spec("hnc.x-k8s.io", "Namespaced", ""), []string{"spec.group"}},
		{"that of another view", "widgets.a.other-12345.views.hnc.x-k8s.io", spec("a.other-12345.views.hnc.x-k8s.io", "Namespaced", ""), []string{"spec.group"}},
		{"no domain", "widgets.apps", spec("apps", "Namespaced", ""), []string{"spec.group", "with a dot"}},
		{"the mark of what is not in the view", "widgets.example.external", spec("example.external", "Namespaced", ""), []string{"spec.group"}},
		{"a long group", "widgets." + long, spec(long, "Namespaced", ""), []string{"metadata.name", "253"}},
		{"an unknown field", "widgets.example.com", spec("example.com", "Namespaced", `,"scopes":"x"`), []string{"spec", "scopes"}},
		{"no spec", "widgets.example.com", "null", []string{"metadata.name"}},
		{"no object", "widgets.example.com", "[1]", []string{"spec"}},
		{"no schema", "widgets.example.com", strings.Replace(spec("example.com", "Namespaced", ""), ","+schema, "", 1), []string{"spec.versions[0].schema.openAPIV3Schema"}},
		{"no structural schema", "widgets.example.com", strings.Replace(spec("example.com", "Namespaced", ""), `"type":"integer"`, "", 1), []string{"openAPIV3Schema.properties[spec].properties[size].type"}},
		{"too large", "widgets.example.com", spec("example.com", "Namespaced", `,"x":"`+strings.Repeat("x", maxSpec)+`"`), []string{"spec: Too long"}},
		{"too deep", "widgets.example.com", strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1), []string{"spec", "levels"}},
		{"many rules", "widgets.example.com", strings.Replace(spec("example.com", "Namespaced", ""), `"type":"integer"`, rules(maxRules+1), 1), []string{"spec.versions: Too many: 1001"}},
		{"fields that are called rule", "widgets.example.com", strings.Replace(spec("example.com", "Namespaced", ""), `"type":"integer"`, strings.ReplaceAll(strings.ReplaceAll(
			rules(maxRules), `"type":"boolean"`, `"type":"object","properties":{"rule":{"type":"integer"}}`), `,"x-kubernetes-validations":[{"rule":"self"}]`, ""), 1), nil},
	} {
		t.Run(test.what, func(t *testing.T) {
			err := validate(t.Context(), definition(test.name, test.spec), nil).ToAggregate()
			if (err != nil) != (test.want != nil) {
				t.Fatalf("got %v", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in %v", part, err)
				}
			}
			if err != nil && strings.Contains(err.Error(), placeholder) {
				t.Errorf("the suffix is shown: %v", err)
			}
		})
	}
}

func TestAVersionThatIsStoredStays(t *testing.T) {
	old := definition("widgets.example.com", spec("example.com", "Namespaced", ""))
	old.Status.StoredVersions = []string{"v1"}
	v := definition("widgets.example.com", strings.Replace(spec("example.com", "Namespaced", ""), `"name":"v1"`, `"name":"v2"`, 1))
	v.Status = old.Status
	if err := validate(t.Context(), v, old).ToAggregate(); err == nil || !strings.Contains(err.Error(), "status.storedVersions") {
		t.Errorf("got %v", err)
	}
}
