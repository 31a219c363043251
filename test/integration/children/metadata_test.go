package children

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Discovery lists the kinds, so that none is left out.
func TestObjectsOfAllKindsHaveLimitedMetadata(t *testing.T) {
	namespaces(t, "large-metadata")
	mallory := newUser(t, "mallory-metadata")
	// What CopyReleases and RepositorySyncs require is authorized before the metadata is validated.
	mallory.grant(t, "", "update /configmaps", "impersonate /serviceaccounts", "create,update hnc.x-k8s.io/*")
	labels := map[string]string{}
	for i := range 65 {
		labels[fmt.Sprint("label-", i)] = "x"
	}
	// The specs of these kinds are validated before the metadata.
	specs := map[string]map[string]any{
		"CopyRelease": {"resource": "configmaps", "name": "a", "source": "large-metadata"},
		"RepositorySync": {"source": map[string]any{"url": "https://example.com/a.git"},
			"serviceAccount": map[string]any{"namespace": "large-metadata", "name": "a"}},
	}
	checked := 0
	for _, version := range []schema.GroupVersion{v1alpha2.SchemeGroupVersion, v1alpha3.SchemeGroupVersion, v1beta1.SchemeGroupVersion} {
		served, err := root.Discovery().ServerResourcesForGroupVersion(version.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range served.APIResources {
			// Users cannot create OverwrittenObjects, and nobody can update them.
			if strings.Contains(resource.Name, "/") || !slices.Contains(resource.Verbs, "create") || resource.Name == "overwrittenobjects" {
				continue
			}
			checked++
			object := &unstructured.Unstructured{Object: map[string]any{}}
			object.SetGroupVersionKind(version.WithKind(resource.Kind))
			if spec, ok := specs[resource.Kind]; ok {
				object.Object["spec"] = spec
			}
			object.SetName(map[string]string{"Hierarchy": hnc.Singleton, "HierarchyConfiguration": hnc.Singleton, "HNCConfiguration": hnc.ConfigurationName, "TenantView": hnc.TenantViewSingleton}[resource.Kind])
			if object.GetName() == "" {
				object.SetName("large-metadata-child")
			}
			object.SetLabels(labels)
			namespace := ""
			if resource.Namespaced {
				namespace = "large-metadata"
			}
			_, err := mallory.Dynamic.Resource(version.WithResource(resource.Name)).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.labels: Too many: 65: must have at most 64 items") {
				t.Errorf("%s %s: got %v, want Invalid", version, resource.Name, err)
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d kinds were checked", checked)
	}
}

// What is stored may be changed within the limits, and by those who add to it.
func TestMetadataMayNotGrowBeyondTheLimits(t *testing.T) {
	namespaces(t, "growing-metadata")
	mallory := newUser(t, "mallory-growing")
	mallory.admin(t, "growing-metadata")
	if err := mallory.hierarchy(t, "growing-metadata", requires()); err != nil {
		t.Fatal(err)
	}
	client := mallory.HNC.HncV1beta1().Hierarchies("growing-metadata")
	for what, change := range map[string]func(*v1beta1.Hierarchy){
		"metadata.finalizers: Too many: 33: must have at most 32 items": func(h *v1beta1.Hierarchy) {
			for i := range 33 {
				h.Finalizers = append(h.Finalizers, fmt.Sprint("example.com/", i))
			}
		},
		"metadata.ownerReferences: Too many": func(h *v1beta1.Hierarchy) {
			for i := range 33 {
				h.OwnerReferences = append(h.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: types.UID(fmt.Sprint("uid-", i))})
			}
		},
		"metadata.annotations: Too long: may not be more than 65536 bytes": func(h *v1beta1.Hierarchy) {
			metav1.SetMetaDataAnnotation(&h.ObjectMeta, "example.com/a", strings.Repeat("a", 64<<10))
		},
		"metadata: Too long: may not be more than 65536 bytes in labels, finalizers and ownerReferences; shorten them": func(h *v1beta1.Hierarchy) {
			h.OwnerReferences = append(h.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: strings.Repeat("a", 64<<10), UID: "x"})
		},
		"metadata.managedFields: Too long: may not be more than 131072 bytes; to reset them, set them to [{}]": func(h *v1beta1.Hierarchy) {
			for i := range 60 {
				fields := metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + strings.Repeat("x", 3<<10) + `":{}}}}`)
				h.ManagedFields = append(h.ManagedFields, metav1.ManagedFieldsEntry{Manager: fmt.Sprint("manager-", i), Operation: metav1.ManagedFieldsOperationApply,
					APIVersion: "hnc.x-k8s.io/v1beta1", FieldsType: "FieldsV1", FieldsV1: fields})
			}
		},
	} {
		h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		change(h)
		if _, err = client.Update(t.Context(), h, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), what) {
			t.Errorf("got %.1000v, want %s", err, what)
		}
	}
}
