package children

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Whatever a client writes in whatever way, the requester is who has created it; and nobody owns that.
func TestTheRequesterIsTheServersWord(t *testing.T) {
	namespaces(t, "asker")
	alice, bob := newUser(t, "alice-asker"), newUser(t, "bob-asker")
	alice.admin(t, "asker")
	bob.admin(t, "asker")
	for _, n := range []struct {
		schema.GroupVersionResource
		kind string
	}{
		{v1beta1.SchemeGroupVersion.WithResource("subnamespaces"), "Subnamespace"},
		{v1alpha2.SchemeGroupVersion.WithResource("subnamespaceanchors"), "SubnamespaceAnchor"},
	} {
		t.Run(n.Resource, func(t *testing.T) {
			object := func(name string, annotations map[string]any) *unstructured.Unstructured {
				return &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": n.GroupVersion().String(), "kind": n.kind,
					"metadata": map[string]any{"name": name, "namespace": "asker", "annotations": annotations},
				}}
			}
			as := func(u user) dynamicResource { return dynamicResource{u, n.GroupVersionResource} }
			is := func(what string, got *unstructured.Unstructured, err error, want string) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if value := got.GetAnnotations()[hnc.AnnotationRequester]; value != want {
					t.Errorf("%s: the requester is %q, want %q", what, value, want)
				}
				for _, f := range got.GetManagedFields() {
					if f.FieldsV1 != nil && strings.Contains(string(f.FieldsV1.GetRawBytes()), hnc.AnnotationRequester) {
						t.Errorf("%s: %s owns it", what, f.Manager)
					}
				}
			}
			lie := map[string]any{hnc.AnnotationRequester: "root", "other": "x"}
			posted, applied := "asker-posted-"+n.Version, "asker-applied-"+n.Version

			got, err := as(alice).create(t, object(posted, lie))
			is("POST", got, err, "alice-asker")
			got, err = as(bob).apply(t, object(posted, lie))
			is("apply to it", got, err, "alice-asker")
			got, err = as(bob).apply(t, object(posted, map[string]any{"other": "y"}))
			is("apply without it", got, err, "alice-asker")
			got, err = as(bob).patch(t, posted, types.MergePatchType, `{"metadata":{"annotations":{"hnc.x-k8s.io/requester":null}}}`)
			is("PATCH", got, err, "alice-asker")
			got, err = as(bob).patch(t, posted, types.JSONPatchType, `[{"op":"remove","path":"/metadata/annotations"}]`)
			is("PATCH of all annotations", got, err, "alice-asker")
			for what, annotations := range map[string]map[string]string{"PUT without any": nil, "PUT of another": {hnc.AnnotationRequester: "root"}} {
				got.SetAnnotations(annotations)
				got, err = as(bob).update(t, got)
				is(what, got, err, "alice-asker")
			}

			got, err = as(bob).apply(t, object(applied, lie))
			is("apply creates", got, err, "bob-asker")
			got, err = as(bob).apply(t, object(applied, lie))
			is("the same again", got, err, "bob-asker")
			got, err = as(alice).apply(t, object(applied, nil))
			is("another applies", got, err, "bob-asker")
		})
	}
}

// dynamicResource is somebody's client of a resource in namespace asker.
type dynamicResource struct {
	user
	resource schema.GroupVersionResource
}

func (d dynamicResource) create(t *testing.T, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return d.Dynamic.Resource(d.resource).Namespace("asker").Create(t.Context(), o, metav1.CreateOptions{FieldManager: d.Name})
}

func (d dynamicResource) apply(t *testing.T, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return d.Dynamic.Resource(d.resource).Namespace("asker").Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: d.Name, Force: true})
}

func (d dynamicResource) update(t *testing.T, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return d.Dynamic.Resource(d.resource).Namespace("asker").Update(t.Context(), o, metav1.UpdateOptions{FieldManager: d.Name})
}

func (d dynamicResource) patch(t *testing.T, name string, kind types.PatchType, patch string) (*unstructured.Unstructured, error) {
	return d.Dynamic.Resource(d.resource).Namespace("asker").Patch(t.Context(), name, kind, []byte(patch), metav1.PatchOptions{FieldManager: d.Name})
}
