package reposync

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Each kind is looked up in what discovery has returned, in each step.
func TestKindsOfManyObjectsAreAskedOnce(t *testing.T) {
	var desired []*plan.Object
	for _, kind := range []string{"Role", "ConfigMap", "Role", "ConfigMap"} {
		desired = append(desired, &plan.Object{ID: plan.ID{Kind: schema.GroupKind{Kind: kind}}})
	}
	desired = append(desired, &plan.Object{ID: plan.ID{Kind: schema.GroupKind{Kind: "Namespace"}}, Remnant: true})
	if got := kindsOf(desired); !slices.Equal(got, []schema.GroupKind{{Kind: "Role"}, {Kind: "ConfigMap"}}) {
		t.Errorf("got %v", got)
	}
}
