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

// none manages nothing.
type none struct{}

func (none) Label(string) bool      { return false }
func (none) Annotation(string) bool { return false }

// some manages the label team and the annotation note.
type some struct{}

func (some) Label(key string) bool      { return key == "team" }
func (some) Annotation(key string) bool { return key == "note" }

func pair(key, value string) []hnc.MetaKVP { return []hnc.MetaKVP{{Key: key, Value: value}} }

func TestManagedMetadata(t *testing.T) {
	long := strings.Repeat("x", 64)
	for name, test := range map[string]struct {
		spec hnc.SubnamespaceSpec
		want []string // "FIELD=VALUE: part of the message"
	}{
		"2.5.1: nothing":                    {hnc.SubnamespaceSpec{}, nil},
		"2.5.1: managed":                    {hnc.SubnamespaceSpec{Labels: pair("team", "a"), Annotations: pair("note", "anything & everything")}, nil},
		"META-1 a label's key that is none": {hnc.SubnamespaceSpec{Labels: pair("!", "a")}, []string{"spec.labels=!: name part must consist of"}},
		"META-1 an annotation's key that is none": {hnc.SubnamespaceSpec{Annotations: pair("a/b/c", "a")},
			[]string{"spec.annotations=a/b/c: a valid label key must"}},
		"META-2 an unmanaged label": {hnc.SubnamespaceSpec{Labels: pair("note", "a")},
			[]string{"spec.labels=note: not a managed label; remove it, or ask the administrator to add it to spec.rules.managedNamespaceLabels of hncconfigurations \"config\""}},
		"META-2 an unmanaged annotation": {hnc.SubnamespaceSpec{Annotations: pair("team", "a")},
			[]string{"spec.annotations=team: not a managed annotation; remove it, or ask the administrator to add it to spec.rules.managedNamespaceAnnotations of hncconfigurations \"config\""}},
		"META-3 a label's value that is none": {hnc.SubnamespaceSpec{Labels: pair("team", "a b")}, []string{"spec.labels[team]=a b: "}},
		"META-3 a value that is too long":     {hnc.SubnamespaceSpec{Labels: pair("team", long)}, []string{"spec.labels[team]=" + long + ": must be no more than"}},
		"META-3 the value is checked regardless of the key": {hnc.SubnamespaceSpec{Labels: pair("!", "a b")},
			[]string{"spec.labels=!: name part", "spec.labels[!]=a b: "}},
		"META-4 annotations' values are not checked": {hnc.SubnamespaceSpec{Annotations: pair("note", "a b\n"+long)}, nil},
		"META-5 duplicate keys are allowed":          {hnc.SubnamespaceSpec{Labels: append(pair("team", "a"), pair("team", "b")...)}, nil},
		"2.5.1: all errors are reported": {hnc.SubnamespaceSpec{Labels: pair("x", "a"), Annotations: pair("y", "a")},
			[]string{"spec.labels=x: not a managed", "spec.annotations=y: not a managed"}},
		"2.5.1: for one namespace only, managed": {hnc.SubnamespaceSpec{NamespaceLabels: pair("team", "a"), NamespaceAnnotations: pair("note", "a")}, nil},
		"2.5.1: for one namespace only": {hnc.SubnamespaceSpec{NamespaceLabels: pair("x", "a b"), NamespaceAnnotations: pair("y", "a")},
			[]string{"spec.namespaceLabels=x: not a managed", "spec.namespaceLabels[x]=a b: ", "spec.namespaceAnnotations=y: not a managed"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: "n"}, Spec: test.spec}
			h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: "n"}, Spec: hnc.HierarchySpec{
				Labels: test.spec.Labels, Annotations: test.spec.Annotations,
				NamespaceLabels: test.spec.NamespaceLabels, NamespaceAnnotations: test.spec.NamespaceAnnotations,
			}}
			for kind, errs := range map[string]field.ErrorList{"subnamespace": ValidateSubnamespace(s, some{}), "hierarchy": ValidateHierarchy(h, some{})} {
				if len(errs) != len(test.want) {
					t.Fatalf("%s: got %v, want %q", kind, errs, test.want)
				}
				for i, err := range errs {
					if got := fmt.Sprintf("%s=%v: %s", err.Field, err.BadValue, err.Detail); err.Type != field.ErrorTypeInvalid || !strings.HasPrefix(got, test.want[i]) {
						t.Errorf("%s: got %s %q, want %q", kind, err.Type, got, test.want[i])
					}
				}
			}
		})
	}
}

func TestNilManagedAcceptsAnyKey(t *testing.T) {
	s := &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "child"}, Spec: hnc.SubnamespaceSpec{Labels: append(pair("x", "a"), pair("!", "a")...)}}
	if got := fieldsOf(ValidateSubnamespace(s, nil)); !slices.Equal(got, []string{"spec.labels"}) {
		t.Errorf("errors at %v, want one for the key that is none", got)
	}
}

func TestUnmanagedMetadataMayStayUntilTheSpecChanges(t *testing.T) {
	old := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: hnc.HierarchySpec{Labels: pair("x", "a")}}
	h := old.DeepCopy()
	h.Finalizers = []string{"example.com/hold"}
	if errs := ValidateHierarchyUpdate(h, old, some{}); len(errs) > 0 {
		t.Errorf("2.5.1: metadata could not be changed: %v", errs)
	}
	h.Spec.Parent = "p"
	if errs := ValidateHierarchyUpdate(h, old, some{}); len(errs) != 1 {
		t.Errorf("2.5.1, H3: another spec got %v", errs)
	}
	was := &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: hnc.SubnamespaceSpec{Annotations: pair("x", "a")}}
	s := was.DeepCopy()
	s.Finalizers = []string{"example.com/hold"}
	if errs := ValidateSubnamespaceUpdate(s, was, some{}); len(errs) > 0 {
		t.Errorf("2.5.1: metadata could not be changed: %v", errs)
	}
	s.Spec.Labels = pair("team", "a")
	if errs := ValidateSubnamespaceUpdate(s, was, some{}); len(errs) != 1 {
		t.Errorf("2.5.1, A2: another spec got %v", errs)
	}
}

// What was stored before the limits may stay while other fields change.
func TestTooMuchMetadataMayStayUntilItChanges(t *testing.T) {
	many := slices.Repeat(pair("team", "a"), maxPairs+1)
	old := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: hnc.HierarchySpec{
		Labels: many, RequiredChildren: []string{"Not a name"}, AbstractAncestors: make([]string, maxAbstractAncestors+1),
	}}
	h := old.DeepCopy()
	h.Finalizers = []string{"example.com/hold"}
	if errs := ValidateHierarchyUpdate(h, old, some{}); len(errs) > 0 {
		t.Errorf("with the spec unchanged: %v", errs)
	}
	h.Spec.Parent, h.Spec.RequiredChildren, h.Spec.AbstractAncestors = "p", nil, nil
	if errs := ValidateHierarchyUpdate(h, old, some{}); len(errs) > 0 {
		t.Errorf("with another parent: %v", errs)
	}
	h.Spec.Labels = append(slices.Clone(many[1:]), hnc.MetaKVP{Key: "team", Value: "b"})
	if got := fieldsOf(ValidateHierarchyUpdate(h, old, some{})); !slices.Equal(got, []string{"spec.labels"}) {
		t.Errorf("with other labels: errors at %v", got)
	}
}

// The costs of errors grow faster than the list, so the size is the only error.
func TestTheSizeOfMetadataIsValidatedFirst(t *testing.T) {
	invalid := slices.Repeat(pair("!", "a b"), 10000)
	for name, row := range map[string]struct {
		spec hnc.SubnamespaceSpec
		want []string
	}{
		"many invalid labels":    {hnc.SubnamespaceSpec{Labels: invalid}, []string{"spec.labels"}},
		"many in several lists":  {hnc.SubnamespaceSpec{Labels: invalid[:maxPairs], NamespaceAnnotations: invalid[:1]}, []string{"spec.namespaceAnnotations"}},
		"as many as are allowed": {hnc.SubnamespaceSpec{Labels: slices.Repeat(pair("team", "a"), maxPairs)}, nil},
		"a long annotation":      {hnc.SubnamespaceSpec{Annotations: pair("note", strings.Repeat("x", maxPairsBytes))}, []string{"spec.annotations"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "child"}, Spec: row.spec}
			if got := fieldsOf(ValidateSubnamespace(s, some{})); !slices.Equal(got, row.want) {
				t.Errorf("subnamespace: errors at %v, want %v", got, row.want)
			}
			h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: hnc.HierarchySpec{
				Labels: row.spec.Labels, Annotations: row.spec.Annotations, NamespaceAnnotations: row.spec.NamespaceAnnotations,
			}}
			if got := fieldsOf(ValidateHierarchy(h, some{})); !slices.Equal(got, row.want) {
				t.Errorf("hierarchy: errors at %v, want %v", got, row.want)
			}
			// What is stored already can be repeated by the propagator.
			if errs := ValidateHierarchy(h, nil); len(row.want) == 1 && len(errs) > 0 && errs[0].Type == field.ErrorTypeTooMany {
				t.Errorf("the propagator got %v", errs[0])
			}
		})
	}
	h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: hnc.HierarchySpec{Propagation: make([]hnc.ResourceSpec, 10000)}}
	if got := fieldsOf(ValidateHierarchy(h, some{})); !slices.Equal(got, []string{"spec.propagation"}) {
		t.Errorf("errors at %v, want one for the size", got)
	}
}
