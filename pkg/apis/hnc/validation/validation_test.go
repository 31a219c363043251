package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestRequiredChildren(t *testing.T) {
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("c", i)
	}
	for name, row := range map[string]struct {
		names []string
		want  string
	}{
		"names":    {[]string{"a", "b"}, ""},
		"100":      {many[:100], ""},
		"too many": {many, "spec.requiredChildren: Too many: 101: must have at most 100 items"},
		"twice":    {[]string{"a", "a"}, `spec.requiredChildren[1]: Duplicate value: "a"`},
		"no name":  {[]string{"a", "b.c"}, "spec.requiredChildren[1]: Invalid value"},
		"empty":    {[]string{""}, "spec.requiredChildren[0]: Invalid value"},
		"too long": {[]string{strings.Repeat("a", 64)}, "spec.requiredChildren[0]: Invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: hnc.HierarchySpec{RequiredChildren: row.names}}
			err := ValidateHierarchy(h, nil).ToAggregate()
			if (err == nil) != (row.want == "") || (err != nil && !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestAbstractAncestors(t *testing.T) {
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("d", i)
	}
	for name, row := range map[string]struct {
		parent string
		names  []string
		want   string
	}{
		"names":           {"", []string{"eng", "platform"}, ""},
		"none":            {"above", nil, ""},
		"100":             {"", many[:100], ""},
		"too many":        {"", many, "spec.abstractAncestors: Too many: 101: must have at most 100 items"},
		"twice":           {"", []string{"eng", "eng"}, `spec.abstractAncestors[1]: Duplicate value: "eng"`},
		"the leaf":        {"", []string{"eng", "leaf"}, "spec.abstractAncestors[1]: Invalid value: \"leaf\": must not be the name of the namespace itself"},
		"no label":        {"", []string{"eng", "b.c"}, "spec.abstractAncestors[1]: Invalid value"},
		"empty":           {"", []string{""}, "spec.abstractAncestors[0]: Invalid value"},
		"too long":        {"", []string{strings.Repeat("a", 64)}, "spec.abstractAncestors[0]: Invalid value"},
		"below a parent":  {"above", []string{"eng", "platform"}, "spec.parent: Invalid value: \"above\": must be empty, because the abstract ancestors eng, platform"},
		"upper-case name": {"", []string{"Eng"}, "spec.abstractAncestors[0]: Invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: hnc.Singleton}, Spec: hnc.HierarchySpec{Parent: row.parent, AbstractAncestors: row.names}}
			err := ValidateHierarchy(h, nil).ToAggregate()
			if (err == nil) != (row.want == "") || (err != nil && !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestCreatorRole(t *testing.T) {
	for role, valid := range map[string]bool{"": true, "admin": true, "system:x": true, "a/b": false, "..": false, "a%b": false} {
		c := &hnc.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: hnc.HNCConfigurationSpec{CreatorRole: role}}
		if err := ValidateConfiguration(c).ToAggregate(); (err == nil) != valid {
			t.Errorf("%q: got %v", role, err)
		}
	}
}

func TestSubnamespaceNames(t *testing.T) {
	for name, row := range map[string]struct {
		names *hnc.SubnamespaceNames
		want  string
	}{
		"none":       {nil, "[]"},
		"a rule":     {&hnc.SubnamespaceNames{Pattern: "[a-z]+", Prefix: hnc.ParentPrefix}, "[]"},
		"1024":       {&hnc.SubnamespaceNames{Pattern: strings.Repeat("a", 1024)}, "[]"},
		"too long":   {&hnc.SubnamespaceNames{Pattern: strings.Repeat("a", 1025)}, "[spec.subnamespaceNames.pattern]"},
		"no pattern": {&hnc.SubnamespaceNames{Pattern: "a)|(b"}, "[spec.subnamespaceNames.pattern]"},
		"not RE2":    {&hnc.SubnamespaceNames{Pattern: "(?!kube-).*"}, "[spec.subnamespaceNames.pattern]"},
		"no prefix":  {&hnc.SubnamespaceNames{Prefix: "Grandparent"}, "[spec.subnamespaceNames.prefix]"},
	} {
		c := &hnc.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: hnc.HNCConfigurationSpec{SubnamespaceNames: row.names}}
		if got := fmt.Sprint(fieldsOf(ValidateConfiguration(c))); got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

func fieldsOf(errs field.ErrorList) []string {
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	return fields
}

func TestHierarchy(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*hnc.Hierarchy)
		want   []string
	}{
		"a root":                 {func(*hnc.Hierarchy) {}, nil},
		"a child":                {func(h *hnc.Hierarchy) { h.Spec.Parent = "parent" }, nil},
		"another name":           {func(h *hnc.Hierarchy) { h.Name = "other" }, []string{"metadata.name"}},
		"a parent with a dot":    {func(h *hnc.Hierarchy) { h.Spec.Parent = "a.b" }, []string{"spec.parent"}},
		"a long parent":          {func(h *hnc.Hierarchy) { h.Spec.Parent = strings.Repeat("a", 64) }, []string{"spec.parent"}},
		"an unmanaged label":     {func(h *hnc.Hierarchy) { h.Spec.Labels = []hnc.MetaKVP{{Key: "k", Value: "v"}} }, []string{"spec.labels"}},
		"a key that is none":     {func(h *hnc.Hierarchy) { h.Spec.Annotations = []hnc.MetaKVP{{Key: "!"}} }, []string{"spec.annotations"}},
		"everything is reported": {func(h *hnc.Hierarchy) { h.Name, h.Spec.Parent = "x", "Y" }, []string{"metadata.name", "spec.parent"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: "n"}}
			test.change(h)
			if got := fieldsOf(ValidateHierarchy(h, none{})); !slices.Equal(got, test.want) {
				t.Errorf("got errors at %v, want %v", got, test.want)
			}
		})
	}
}

func TestSubnamespace(t *testing.T) {
	for name, want := range map[string][]string{
		"child":                 nil,
		"a.b":                   {"metadata.name"},
		"Child":                 {"metadata.name"},
		strings.Repeat("a", 63): nil,
		strings.Repeat("a", 64): {"metadata.name"},
	} {
		s := &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "n"}}
		if got := fieldsOf(ValidateSubnamespace(s, none{})); !slices.Equal(got, want) {
			t.Errorf("%s: got errors at %v, want %v", name, got, want)
		}
	}
	s := &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "child"}, Spec: hnc.SubnamespaceSpec{Labels: []hnc.MetaKVP{{Key: "k"}}}}
	if got := fieldsOf(ValidateSubnamespace(s, none{})); !slices.Equal(got, []string{"spec.labels"}) {
		t.Errorf("an unmanaged label: got errors at %v", got)
	}
}
