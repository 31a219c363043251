package servers

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// name is one of the names of a resource.
type name struct {
	schema.GroupVersionResource
	kind string
}

var (
	hierarchies    = name{v1beta1.SchemeGroupVersion.WithResource("hierarchies"), "Hierarchy"}
	configurations = name{v1alpha2.SchemeGroupVersion.WithResource("hierarchyconfigurations"), "HierarchyConfiguration"}
	subnamespaces  = name{v1beta1.SchemeGroupVersion.WithResource("subnamespaces"), "Subnamespace"}
	anchors        = name{v1alpha2.SchemeGroupVersion.WithResource("subnamespaceanchors"), "SubnamespaceAnchor"}

	bothHierarchies   = []name{hierarchies, configurations}
	bothSubnamespaces = []name{subnamespaces, anchors}
)

// object returns an object of that name with a spec.
func (n name) object(namespace, objectName string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(n.GroupVersion().WithKind(n.kind))
	object.SetNamespace(namespace)
	object.SetName(objectName)
	return object
}

// hierarchy returns the hierarchy of a namespace below a parent.
func (n name) hierarchy(namespace, parent string) *unstructured.Unstructured {
	return n.object(namespace, hnc.Singleton, map[string]any{"parent": parent})
}

// apply has a namespace below a parent, whether or not it has a hierarchy.
func (u *user) apply(t *testing.T, n name, namespace, parent string) error {
	t.Helper()
	_, err := u.dynamic.Resource(n.GroupVersionResource).Namespace(namespace).
		Apply(t.Context(), hnc.Singleton, n.hierarchy(namespace, parent), metav1.ApplyOptions{FieldManager: "test", Force: true})
	return err
}

// create has a namespace that has no hierarchy below a parent.
func (u *user) create(t *testing.T, n name, namespace, parent string) error {
	t.Helper()
	_, err := u.dynamic.Resource(n.GroupVersionResource).Namespace(namespace).Create(t.Context(), n.hierarchy(namespace, parent), metav1.CreateOptions{})
	return err
}

// patch has a namespace that has a hierarchy below a parent.
func (u *user) patch(t *testing.T, n name, namespace, parent string) error {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"parent": parent}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = u.dynamic.Resource(n.GroupVersionResource).Namespace(namespace).
		Patch(t.Context(), hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// remove deletes a namespace's hierarchy.
func (u *user) remove(t *testing.T, n name, namespace string) error {
	t.Helper()
	return u.dynamic.Resource(n.GroupVersionResource).Namespace(namespace).Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{})
}

// parentOf returns what a namespace's hierarchy says, as the user sees it. No hierarchy says nothing.
func (u *user) parentOf(t *testing.T, namespace string) string {
	t.Helper()
	object, err := u.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	parent, _, err := unstructured.NestedString(object.Object, "spec", "parent")
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// createNamespaces creates namespaces.
func createNamespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		createNamespace(t, name)
	}
}

func createNamespace(t *testing.T, name string) *corev1.Namespace {
	t.Helper()
	created, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// deleteNamespaces deletes namespaces and returns when they are gone.
func deleteNamespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := admin.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		waitUntilGone(t, name)
	}
}

// waitUntilGone returns when a namespace doesn't exist.
func waitUntilGone(t *testing.T, name string) {
	t.Helper()
	eventually(t, "namespace "+name+" is gone", func() error {
		namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("it is %s: %v", namespace.Status.Phase, namespace.Status.Conditions)
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
