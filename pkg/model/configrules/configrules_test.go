package configrules

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Each field that is set replaces a default, and nothing else.
func TestEachFieldIsARule(t *testing.T) {
	rows := map[string]*v1beta1.Rules{
		"ExcludedNamespaces":          {ExcludedNamespaces: []string{"b"}},
		"IncludedNamespaceRegex":      {IncludedNamespaceRegex: "b.*"},
		"ExcludedNamespaceSelector":   {ExcludedNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"b": "c"}}},
		"ManagedNamespaceLabels":      {ManagedNamespaceLabels: []string{"b"}},
		"ManagedNamespaceAnnotations": {ManagedNamespaceAnnotations: []string{"b"}},
		"SkippedObjects":              {SkippedObjects: []metav1.LabelSelector{{MatchLabels: map[string]string{"b": "c"}}}},
		"DroppedLabels":               {DroppedLabels: []string{"b"}},
		"DroppedAnnotations":          {DroppedAnnotations: []string{"b"}},
		"StripTrackingMetadata":       {StripTrackingMetadata: ptr.To(false)},
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[v1beta1.Rules]()) {
		t.Run(f.Name, func(t *testing.T) {
			spec := rows[f.Name]
			if spec == nil {
				t.Fatal("no row is for this field")
			}
			rules, errs := Of(spec)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if rules.Equal(Default()) || Same(spec, nil) || reflect.DeepEqual(rules.Managed, Default().Managed) && reflect.DeepEqual(rules.Copies, Default().Copies) {
				t.Error("the field changes nothing")
			}
			other := reflect.ValueOf(Defaulted(spec)).Elem()
			for _, g := range reflect.VisibleFields(other.Type()) {
				if g.Name != f.Name && !reflect.DeepEqual(other.FieldByIndex(g.Index).Interface(), reflect.ValueOf(Defaulted(nil)).Elem().FieldByIndex(g.Index).Interface()) {
					t.Errorf("it changes %s, too", g.Name)
				}
			}
		})
	}
}

func TestAllErrorsNameTheirFields(t *testing.T) {
	for name, row := range map[string]struct {
		spec *v1beta1.Rules
		want string
	}{
		"none":             {&v1beta1.Rules{ManagedNamespaceLabels: []string{"a"}}, ""},
		"no rules":         {nil, ""},
		"several":          {&v1beta1.Rules{IncludedNamespaceRegex: "(", DroppedLabels: []string{"a", "a b"}}, "spec.rules.includedNamespaceRegex spec.rules.droppedLabels[1]"},
		"a reserved key":   {&v1beta1.Rules{ManagedNamespaceLabels: []string{".*"}}, "spec.rules.managedNamespaceLabels[0]"},
		"a managed label":  {&v1beta1.Rules{ManagedNamespaceLabels: []string{"a"}, ExcludedNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": ""}}}, "spec.rules.excludedNamespaceSelector"},
		"all namespaces":   {&v1beta1.Rules{ExcludedNamespaceSelector: &metav1.LabelSelector{}}, "spec.rules.excludedNamespaceSelector"},
		"all objects":      {&v1beta1.Rules{SkippedObjects: []metav1.LabelSelector{{}}}, "spec.rules.skippedObjects[0]"},
		"no such operator": {&v1beta1.Rules{SkippedObjects: []metav1.LabelSelector{{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}}}, "spec.rules.skippedObjects[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range Validate(row.spec, Path) {
				got = append(got, err.Field)
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// Invalid rules leave those in force as they are.
func TestCurrent(t *testing.T) {
	current := NewCurrent()
	set := func(spec *v1beta1.Rules) string {
		changed, err := current.Set(spec)
		return strings.TrimSpace(map[bool]string{true: "changed"}[changed] + map[bool]string{true: " error"}[err != nil])
	}
	for i, step := range []struct {
		spec                *v1beta1.Rules
		want, nameOfDefault string
	}{
		{nil, "", "excluded"},
		{&v1beta1.Rules{ExcludedNamespaces: []string{"b"}}, "changed", ""},
		{&v1beta1.Rules{ExcludedNamespaces: []string{"b"}}, "", ""},
		{&v1beta1.Rules{ManagedNamespaceLabels: []string{"("}}, "error", ""},
		{nil, "changed", "excluded"},
	} {
		if got := set(step.spec); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		if got := current.Load().Managed.NameExcluded("kube-system") != ""; got != (step.nameOfDefault != "") {
			t.Errorf("step %d: kube-system is excluded: %v", i, got)
		}
	}
}
