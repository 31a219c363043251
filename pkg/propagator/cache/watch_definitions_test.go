package cache

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

func TestOnlyTheSizeOfASpecIsKept(t *testing.T) {
	v := &v1alpha3.ViewDefinition{Spec: runtime.RawExtension{Raw: []byte(`{"group":"x"}`)}}
	if d := newDefinition(v); d.SpecBytes != len(v.Spec.Raw) || d.Spec.Raw != nil {
		t.Errorf("got %d bytes and %s", d.SpecBytes, d.Spec.Raw)
	}
}

// Each change of a ViewDefinition has its CustomResourceDefinition written again, also one that is rejected.
func TestAStatusOfADefinitionIsNoChange(t *testing.T) {
	c, changes := New(Config{}), 0
	c.Update(func(s *State) {
		s.AddEventHandlers(EventHandlers{DefinitionChanged: func(*State, string) { changes++ }})
	})
	for i, test := range []struct {
		what   string
		change func(*v1alpha3.ViewDefinition)
		want   int
	}{
		{"a new one", func(*v1alpha3.ViewDefinition) {}, 1},
		{"a status", func(v *v1alpha3.ViewDefinition) { v.Status.Conditions = []metav1.Condition{{Message: "rejected"}} }, 0},
		{"managed fields", func(v *v1alpha3.ViewDefinition) { v.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}} }, 0},
		{"a spec", func(v *v1alpha3.ViewDefinition) { v.Generation = 2 }, 1},
		{"a deletion", func(v *v1alpha3.ViewDefinition) { v.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, 1},
		{"a finalizer", func(v *v1alpha3.ViewDefinition) { v.Finalizers = []string{"example.com/a"} }, 1},
		{"another one", func(v *v1alpha3.ViewDefinition) { v.UID = "other" }, 1},
	} {
		v := &v1alpha3.ViewDefinition{}
		if known, ok := c.state.Definitions.Wanted["acme"]["a.x.io"]; ok {
			v = known.DeepCopy()
		}
		v.Namespace, v.Name, v.ResourceVersion = "acme", "a.x.io", fmt.Sprint(i+1)
		test.change(v)
		changes = 0
		if c.ObserveDefinition(v); changes != test.want {
			t.Errorf("%s: %d changes, want %d", test.what, changes, test.want)
		}
		if got := c.state.Definitions.Wanted["acme"]["a.x.io"]; got.ResourceVersion != v.ResourceVersion || len(got.Status.Conditions) != len(v.Status.Conditions) {
			t.Errorf("%s: kept is %v", test.what, got.ViewDefinition)
		}
	}
}
