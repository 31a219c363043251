package children

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// eventuallyVoid waits until a Subnamespace is in the state Conflict because its namespace was converted.
func eventuallyVoid(t *testing.T, parent, name string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("Subnamespace %s/%s is void", parent, name), func() error {
		s, err := root.HNC.HncV1beta1().Subnamespaces(parent).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range s.Status.Conditions {
			if c.Type == hnc.ConditionReady && c.Reason == hnc.ReasonNamespaceConverted && s.Status.State == v1beta1.SubnamespaceConflict {
				return nil
			}
		}
		return fmt.Errorf("got %+v", s.Status)
	})
}

func eventuallyNoNamespace(t *testing.T, name string) {
	t.Helper()
	suite.Eventually(t, name+" is gone", func() error {
		if _, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}

// The owner of a sub-namespace can't take it out of its tree without being admin of the root, in any order of steps.
func TestASubnamespaceLeavesOnlyWithTheRootsConsent(t *testing.T) {
	namespaces(t, "leave-top")
	for _, name := range []string{"leave-sub", "leave-sub2", "leave-sub3"} {
		if _, err := root.subnamespace(t, "leave-top", name); err != nil {
			t.Fatal(err)
		}
	}
	mallory, vera := newUser(t, "mallory-leave"), newUser(t, "vera-leave")
	mallory.admin(t, "leave-sub", "leave-sub2", "leave-sub3")
	for _, name := range []string{"leave-sub", "leave-sub2", "leave-sub3"} {
		mallory.bind(t, name, "admin")
	}
	mallory.grant(t, "", "get,update,patch /namespaces")
	vera.admin(t, "leave-top")
	const why = `"leave-top", which is the root of the tree that the namespace leaves`
	remove := func(u user, name string) error {
		return u.HNC.HncV1beta1().Hierarchies(name).Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{})
	}
	stays := func(name string) {
		t.Helper()
		refused(t, "deleting the hierarchy of "+name, remove(mallory, name), apierrors.IsForbidden, why)
		refused(t, "emptying the hierarchy of "+name, mallory.hierarchy(t, name, below("")), apierrors.IsForbidden, why)
		_, err := mallory.HNC.HncV1beta1().Hierarchies(name).Patch(t.Context(), hnc.Singleton, types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":["example.com/mine"]}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		refused(t, "deleting the hierarchy of "+name+", which has a finalizer", remove(mallory, name), apierrors.IsForbidden, why)
		ancestryIs(t, name, name, "leave-top")
	}

	// The hierarchy first.
	refused(t, "deleting the hierarchy", remove(mallory, "leave-sub"), apierrors.IsForbidden, why)
	// The annotation first, and the hierarchy after the Subnamespace is void.
	if err := mallory.annotate(t, "leave-sub", ""); err != nil {
		t.Fatal(err)
	}
	eventuallyVoid(t, "leave-top", "leave-sub")
	stays("leave-sub")
	// The annotation and the hierarchy while nobody looks.
	stopped(t, func() {
		if err := mallory.annotate(t, "leave-sub2", ""); err != nil {
			t.Fatal(err)
		}
		stays("leave-sub2")
		if err := mallory.annotate(t, "leave-sub3", "leave-sub"); err != nil {
			t.Fatal(err)
		}
		stays("leave-sub3")
	})
	eventuallyVoid(t, "leave-top", "leave-sub2")
	eventuallyVoid(t, "leave-top", "leave-sub3")
	stays("leave-sub2")
	eventuallyReports(t, "leave-sub3", hnc.ReasonSubnamespaceMissing)
	stays("leave-sub3")

	// The admin of the root may.
	vera.admin(t, "leave-sub")
	if err := vera.hierarchy(t, "leave-sub", below("")); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "leave-sub", "leave-sub")
}

// HNC's way to take a sub-namespace apart: remove the annotation, delete the namespace, delete the parent.
func TestASubnamespaceIsTakenApart(t *testing.T) {
	namespaces(t, "apart-top")
	alice := newUser(t, "alice-apart")
	alice.admin(t, "apart-top")
	alice.grant(t, "", "get,update,patch,delete /namespaces")
	for _, name := range []string{"apart-sub", "apart-quick"} {
		if _, err := alice.subnamespace(t, "apart-top", name); err != nil {
			t.Fatal(err)
		}
	}
	// At once, so that the propagator may never see what is in between.
	if err := alice.annotate(t, "apart-quick", ""); err != nil {
		t.Fatal(err)
	}
	if err := alice.CoreV1().Namespaces().Delete(t.Context(), "apart-quick", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := alice.annotate(t, "apart-sub", ""); err != nil {
		t.Fatal(err)
	}
	eventuallyVoid(t, "apart-top", "apart-sub")
	ancestryIs(t, "apart-sub", "apart-sub", "apart-top")
	if err := alice.annotate(t, "apart-sub", "apart-top"); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "apart-sub", hnc.ReasonSubnamespaceMissing, "is void")
	if err := alice.annotate(t, "apart-sub", ""); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "apart-sub", "-"+hnc.ReasonSubnamespaceMissing)
	// Nobody but the propagator says what is void.
	records := alice.HNC.HncV1beta1().Subnamespaces("apart-top")
	for _, value := range []string{"null", `""`, `"false"`} {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, hnc.AnnotationVoid, value)
		s, err := records.Patch(t.Context(), "apart-sub", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil || s.Annotations[hnc.AnnotationVoid] != "true" {
			t.Errorf("%s: got %v, %v", value, s.Annotations, err)
		}
	}
	if _, err := alice.subnamespace(t, "apart-top", "apart-live"); err != nil {
		t.Fatal(err)
	}
	s, err := records.Patch(t.Context(), "apart-live", types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+hnc.AnnotationVoid+`":"true"}}}`), metav1.PatchOptions{})
	if err != nil || s.Annotations[hnc.AnnotationVoid] != "" {
		t.Errorf("got %v, %v", s.Annotations, err)
	}
	if err := records.Delete(t.Context(), "apart-live", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyNoNamespace(t, "apart-live")

	if err := alice.CoreV1().Namespaces().Delete(t.Context(), "apart-sub", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyNoNamespace(t, "apart-sub")
	eventuallyNoNamespace(t, "apart-quick")
	// What is void is remembered.
	stopped(t, func() {})
	// The proof that everything has been looked at.
	if _, err := alice.subnamespace(t, "apart-top", "apart-again"); err != nil {
		t.Fatal(err)
	}
	if err := records.Delete(t.Context(), "apart-again", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyNoNamespace(t, "apart-again")
	for _, name := range []string{"apart-sub", "apart-quick"} {
		eventuallyVoid(t, "apart-top", name)
		eventuallyNoNamespace(t, name)
	}
	// One that is made again makes its namespace again.
	if err := records.Delete(t.Context(), "apart-quick", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the void Subnamespace is gone", func() error {
		_, err := alice.subnamespace(t, "apart-top", "apart-quick")
		return err
	})
	eventuallyReady(t, "apart-top", "apart-quick")
	err = alice.CoreV1().Namespaces().Delete(t.Context(), "apart-top", metav1.DeleteOptions{})
	refused(t, "deleting the parent of a sub-namespace", err, apierrors.IsForbidden, "has sub-namespaces")
	if err := records.Delete(t.Context(), "apart-quick", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// A void one protects nothing.
	suite.Eventually(t, "the parent may be deleted", func() error {
		return alice.CoreV1().Namespaces().Delete(t.Context(), "apart-top", metav1.DeleteOptions{})
	})
	eventuallyNoNamespace(t, "apart-top")
}
