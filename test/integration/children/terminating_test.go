package children

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const finalizers = `{"metadata":{"finalizers":[%s]}}`

// patchHierarchy patches the hierarchy of a namespace by either of its names.
func (u user) patchHierarchy(ctx context.Context, version, namespace, patch string) error {
	var err error
	if version == "v1alpha2" {
		_, err = u.HNC.HncV1alpha2().HierarchyConfigurations(namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	} else {
		_, err = u.HNC.HncV1beta1().Hierarchies(namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	return err
}

// A tenant deletes the hierarchy of a root, which a finalizer keeps. Somebody gives it a parent, and the tenant takes
// the finalizer off: the namespace would be a root again, without the permission to leave the tree.
func TestADeletedHierarchyIsNoWayOut(t *testing.T) {
	namespaces(t, "bomb", "bomb-parent", "bomb-other")
	mallory := newUser(t, "mallory-bomb")
	mallory.admin(t, "bomb")
	remove := func() error {
		return mallory.HNC.HncV1beta1().Hierarchies("bomb").Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{})
	}
	if err := mallory.hierarchy(t, "bomb", func(s *v1beta1.HierarchySpec) {}); err != nil {
		t.Fatal(err)
	}
	if err := mallory.patchHierarchy(t.Context(), "v1beta1", "bomb", fmt.Sprintf(finalizers, `"example.com/bomb"`)); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		refused(t, version, root.patchHierarchy(t.Context(), version, "bomb", `{"spec":{"parent":"bomb-parent"}}`), apierrors.IsForbidden,
			"spec.parent", "is being deleted and takes no new parent", "example.com/bomb")
	}
	if err := mallory.patchHierarchy(t.Context(), "v1alpha2", "bomb", fmt.Sprintf(finalizers, "")); err != nil {
		t.Fatalf("a root does not leave anything: %v", err)
	}

	// The other order: an admin of the root deletes the hierarchy of a child, whose branch goes to another tree before
	// the finalizer is taken.
	if err := root.hierarchy(t, "bomb", below("bomb-parent")); err != nil {
		t.Fatal(err)
	}
	refused(t, "deleting it", remove(), apierrors.IsForbidden, `"bomb-parent"`)
	if err := mallory.patchHierarchy(t.Context(), "v1beta1", "bomb", fmt.Sprintf(finalizers, `"example.com/bomb"`)); err != nil {
		t.Fatal(err)
	}
	if err := root.HNC.HncV1beta1().Hierarchies("bomb").Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := root.hierarchy(t, "bomb-parent", below("bomb-other")); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		refused(t, "taking the finalizer, "+version, mallory.patchHierarchy(t.Context(), version, "bomb", fmt.Sprintf(finalizers, "")), apierrors.IsForbidden,
			`"bomb-other"`, "update on hierarchies.hnc.x-k8s.io")
	}
	if err := root.patchHierarchy(t.Context(), "v1beta1", "bomb", fmt.Sprintf(finalizers, "")); err != nil {
		t.Fatal(err)
	}
}

// A tenant prepares a namespace whose hierarchy takes no parent, because it is being deleted. Somebody takes the
// namespace as a sub-namespace; its owner removes the annotation, which leaves the namespace where it is.
func TestADeletedHierarchyIsNoWayOutByConversion(t *testing.T) {
	namespaces(t, "fuse", "fuse-top")
	mallory := newUser(t, "mallory-fuse")
	mallory.admin(t, "fuse")
	mallory.grant(t, "", "get,patch /namespaces fuse")
	annotate := func(patch string) {
		if _, err := mallory.CoreV1().Namespaces().Patch(t.Context(), "fuse", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := mallory.hierarchy(t, "fuse", func(s *v1beta1.HierarchySpec) {}); err != nil {
		t.Fatal(err)
	}
	if err := mallory.patchHierarchy(t.Context(), "v1beta1", "fuse", fmt.Sprintf(finalizers, `"example.com/fuse"`)); err != nil {
		t.Fatal(err)
	}
	if err := mallory.HNC.HncV1beta1().Hierarchies("fuse").Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := root.annotate(t, "fuse", "fuse-top"); err != nil {
		t.Fatal(err)
	}
	if _, err := root.subnamespace(t, "fuse-top", "fuse"); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "fuse", "fuse", "fuse-top")
	annotate(fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, hnc.AnnotationSubnamespaceOf))
	// Something that comes after it.
	namespaces(t, "fuse-later")
	if err := root.hierarchy(t, "fuse-later", below("fuse-top")); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "fuse-later", "fuse-later", "fuse-top")
	ancestryIs(t, "fuse", "fuse", "fuse-top")
	if err := mallory.patchHierarchy(t.Context(), "v1beta1", "fuse", fmt.Sprintf(finalizers, "")); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the hierarchy names the parent", func() error {
		h, err := root.HNC.HncV1beta1().Hierarchies("fuse").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil && h.Spec.Parent != "fuse-top" {
			err = fmt.Errorf("got %+v", h.Spec)
		}
		return err
	})
	ancestryIs(t, "fuse", "fuse", "fuse-top")
}
