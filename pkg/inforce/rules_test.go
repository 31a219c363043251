package inforce

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func parsed(t *testing.T, args ...string) *Flags {
	t.Helper()
	flags, set := NewFlags(), pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.AddFlags(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags
}

// Each field of the configuration that is set replaces one flag, and nothing else.
func TestTheConfigurationOverridesFlags(t *testing.T) {
	no := false
	for name, row := range map[string]struct {
		spec v1beta1.Rules
		flag string
	}{
		"excludedNamespaces":          {v1beta1.Rules{ExcludedNamespaces: []string{"b"}}, "--excluded-namespace=a"},
		"includedNamespaceRegex":      {v1beta1.Rules{IncludedNamespaceRegex: "b.*"}, "--included-namespace-regex=a.*"},
		"excludedNamespaceSelector":   {v1beta1.Rules{ExcludedNamespaceSelector: "b"}, "--excluded-namespace-selector=a"},
		"managedNamespaceLabels":      {v1beta1.Rules{ManagedNamespaceLabels: []string{"b"}}, "--managed-namespace-label=a"},
		"managedNamespaceAnnotations": {v1beta1.Rules{ManagedNamespaceAnnotations: []string{"b"}}, "--managed-namespace-annotation=a"},
		"noPropagationLabels":         {v1beta1.Rules{NoPropagationLabels: []string{"b=c"}}, "--nopropagation-label=a=c"},
		"unpropagatedLabels":          {v1beta1.Rules{UnpropagatedLabels: []string{"b"}}, "--unpropagated-label=a"},
		"unpropagatedAnnotations":     {v1beta1.Rules{UnpropagatedAnnotations: []string{"b"}}, "--unpropagated-annotation=a"},
		"stripTrackingMetadata":       {v1beta1.Rules{StripTrackingMetadata: &no}, "--strip-tracking-metadata=true"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := flags[name]; !ok {
				t.Errorf("no flag is known for %s", name)
			}
			given := parsed(t, row.flag)
			alone, err := given.With(nil)
			if err != nil || len(alone.Overridden) > 0 {
				t.Fatal(alone, err)
			}
			with, err := given.With(&row.spec)
			if err != nil {
				t.Fatal(err)
			}
			differences := Differences(v1beta1.InForce{APIServer: alone.Report, Propagator: with.Report})
			if len(differences) != 1 || !strings.HasPrefix(differences[0], name) || alone.Equal(with) {
				t.Errorf("the field changes %q", differences)
			}
			if only := Fields(given.Given()); len(only) != 1 || only[name] == nil {
				t.Errorf("given: %v", only)
			}
			flag, _, _ := strings.Cut(row.flag, "=")
			if !slices.Equal(with.Overridden, []string{flag}) {
				t.Errorf("overridden flags: %q", with.Overridden)
			}
			if with, err = parsed(t).With(&row.spec); err != nil || len(with.Overridden) > 0 {
				t.Errorf("overridden defaults: %q, %v", with.Overridden, err)
			}
		})
	}
	if given := parsed(t).Given(); given != nil {
		t.Errorf("given without flags: %v", given)
	}
	if len(flags) != 9 {
		t.Errorf("%d fields are known, and nine tested", len(flags))
	}
}

func TestAllErrorsNameTheirFields(t *testing.T) {
	for name, row := range map[string]struct {
		spec *v1beta1.Rules
		want string
	}{
		"none":            {&v1beta1.Rules{ManagedNamespaceLabels: []string{"a"}}, ""},
		"no rules":        {nil, ""},
		"several":         {&v1beta1.Rules{IncludedNamespaceRegex: "(", UnpropagatedLabels: []string{"a b"}}, "spec.rules.includedNamespaceRegex spec.rules.unpropagatedLabels"},
		"a reserved key":  {&v1beta1.Rules{ManagedNamespaceLabels: []string{".*"}}, "spec.rules.managedNamespaceLabels"},
		"a managed label": {&v1beta1.Rules{ManagedNamespaceLabels: []string{"a"}, ExcludedNamespaceSelector: "a"}, "spec.rules.excludedNamespaceSelector"},
		"a managed flag":  {&v1beta1.Rules{ExcludedNamespaceSelector: "flag"}, "spec.rules.excludedNamespaceSelector"},
		"no value":        {&v1beta1.Rules{NoPropagationLabels: []string{"a"}}, "spec.rules.noPropagationLabels"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range parsed(t, "--managed-namespace-label=flag").ValidateSpec(row.spec, field.NewPath("spec", "rules")) {
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
	current, err := NewCurrent(parsed(t))
	if err != nil {
		t.Fatal(err)
	}
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
