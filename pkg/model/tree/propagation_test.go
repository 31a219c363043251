package tree

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// naming returns a hierarchy of namespace c, below p, that names resources.
func naming(resources ...string) *Hierarchy {
	h := hierarchy("c", "p")
	h.Owner = "uid-c"
	for _, resource := range resources {
		h.Propagation = append(h.Propagation, v1beta1.ResourceSpec{Resource: resource})
	}
	return h
}

func TestAChangeOfTheSpecifiedKindsIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Tree) Affected
		want   bool
		// said is whether something is said afterwards.
		said bool
	}{
		"the same":                   {func(t *Tree) Affected { return t.SetHierarchy(naming("secrets")) }, false, true},
		"another kind":               {func(t *Tree) Affected { return t.SetHierarchy(naming("configmaps")) }, true, true},
		"one more kind":              {func(t *Tree) Affected { return t.SetHierarchy(naming("secrets", "configmaps")) }, true, true},
		"nothing":                    {func(t *Tree) Affected { return t.SetHierarchy(naming()) }, true, false},
		"the hierarchy goes":         {func(t *Tree) Affected { return t.DeleteHierarchy("c", "h-c") }, true, false},
		"the namespace goes":         {func(t *Tree) Affected { return t.DeleteNamespace("c", "uid-c") }, true, false},
		"the namespace is made anew": {func(t *Tree) Affected { return t.SetNamespace(ns("c", reborn)) }, true, false},
		"the namespace changes":      {func(t *Tree) Affected { return t.SetNamespace(ns("c")) }, false, true},
		"it moves": {func(t *Tree) Affected {
			h := naming("secrets")
			h.Parent = "q"
			return t.SetHierarchy(h)
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(managedkeys.Default())
			w.SetNamespace(ns("c"))
			if !w.SetHierarchy(naming("secrets")).Propagation {
				t.Error("a change is not reported")
			}
			if got := test.change(w).Propagation; got != test.want {
				t.Errorf("reported: %v", got)
			}
			if got := len(w.PropagationByNamespace()) == 1; got != test.said {
				t.Errorf("says %v", w.PropagationByNamespace())
			}
		})
	}
}

func TestKindConditionsAreReportedWhenTheyAreNew(t *testing.T) {
	w := New(managedkeys.Default())
	problem := func(message string) []metav1.Condition { return []metav1.Condition{{Type: "Bad", Message: message}} }
	for _, step := range []struct {
		problems map[string][]metav1.Condition
		want     []string
	}{
		{nil, nil},
		{map[string][]metav1.Condition{"a": problem("1"), "b": problem("1")}, []string{"a", "b"}},
		{map[string][]metav1.Condition{"a": problem("1"), "b": problem("2")}, []string{"b"}},
		{map[string][]metav1.Condition{"b": problem("2"), "c": problem("1")}, []string{"a", "c"}},
		{nil, []string{"b", "c"}},
	} {
		changed := w.SetKindConditions(step.problems)
		slices.Sort(changed)
		if !slices.Equal(changed, step.want) {
			t.Errorf("changed %v, want %v", changed, step.want)
		}
	}
}
