package cli

import (
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

func TestWriteOfAModifiedHierarchyIsRetried(t *testing.T) {
	for name, test := range map[string]struct {
		why  string
		want int
	}{
		"modified":          {"the object has been modified; please apply your changes to the latest version and try again", 2},
		"refused as it was": {"it is below itself", 1},
	} {
		t.Run(name, func(t *testing.T) {
			stored := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: hnc.Singleton, ResourceVersion: "2", Labels: map[string]string{"new": "yes"}}}
			client := fake.NewClientset(stored)
			var updates []*v1beta1.Hierarchy
			client.PrependReactor("update", "hierarchies", func(action clienttesting.Action) (bool, runtime.Object, error) {
				updates = append(updates, action.(clienttesting.UpdateAction).GetObject().(*v1beta1.Hierarchy))
				if len(updates) == 1 {
					return true, nil, apierrors.NewConflict(v1beta1.Resource("hierarchies"), hnc.Singleton, errors.New(test.why))
				}
				return true, updates[1], nil
			})
			want := hierarchyChange{parent: ptr.To("b")}
			read := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: hnc.Singleton, ResourceVersion: "1"}}
			want.apply(read)
			err := writeHierarchy(t.Context(), &Clients{Hierarchy: client}, read, want, new(DryRunFlag))
			if len(updates) != test.want || (err == nil) != (test.want == 2) {
				t.Fatalf("%d updates, %v", len(updates), err)
			}
			if last := updates[len(updates)-1]; last.Spec.Parent != "b" || test.want == 2 && last.Labels["new"] != "yes" {
				t.Errorf("wrote %v", last)
			}
		})
	}
}

// The mode of a kind changes in the hierarchy as it is when it is written.
func TestWriteOfAModeIntoAModifiedHierarchy(t *testing.T) {
	entry := func(resource string, mode v1beta1.SynchronizationMode) v1beta1.ResourceSpec {
		return v1beta1.ResourceSpec{Resource: resource, Mode: mode}
	}
	stored := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: hnc.Singleton, ResourceVersion: "1"}}
	stored.Spec.Propagation = []v1beta1.ResourceSpec{entry("secrets", v1beta1.Remove), entry("configmaps", v1beta1.Ignore)}
	client := fake.NewClientset(stored)
	var updates []*v1beta1.Hierarchy
	client.PrependReactor("update", "hierarchies", func(action clienttesting.Action) (bool, runtime.Object, error) {
		updates = append(updates, action.(clienttesting.UpdateAction).GetObject().(*v1beta1.Hierarchy))
		if len(updates) == 1 {
			return true, nil, apierrors.NewConflict(v1beta1.Resource("hierarchies"), hnc.Singleton, errors.New("the object has been modified"))
		}
		return true, updates[1], nil
	})
	r := &uiReader{clients: &Clients{Hierarchy: client}, factory: discovering(t, map[string]any{
		"/api": metav1.APIVersions{Versions: []string{"v1"}}, "/apis": metav1.APIGroupList{},
		"/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "secrets", Kind: "Secret", Namespaced: true}, {Name: "configmaps", Kind: "ConfigMap", Namespaced: true},
		}},
	})}
	if err := r.write(t.Context(), "a", ui.Change{Kind: ui.ChangeMode, Resource: "secrets", Mode: "Propagate"}, "", "none"); err != nil {
		t.Fatal(err)
	}
	want := []v1beta1.ResourceSpec{entry("secrets", v1beta1.Propagate), entry("configmaps", v1beta1.Ignore)}
	if len(updates) != 2 || !slices.Equal(updates[1].Spec.Propagation, want) {
		t.Errorf("%d updates, the last to %v; want %v", len(updates), updates[len(updates)-1].Spec.Propagation, want)
	}
}
