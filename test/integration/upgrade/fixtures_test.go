package upgrade

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func patchHierarchy(t *testing.T, u user, namespace, patch string) {
	t.Helper()
	must(t, tryHierarchy(t, u, namespace, patch))
}

func tryHierarchy(t *testing.T, u user, namespace, patch string) error {
	t.Helper()
	_, err := u.HNC.HncV1beta1().Hierarchies(namespace).Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// join gives a namespace a parent, whether or not it has a hierarchy.
func join(t *testing.T, u user, namespace, parent string) {
	t.Helper()
	suite.Eventually(t, "namespace "+namespace+" gets the parent "+parent, func() error {
		err := tryHierarchy(t, u, namespace, `{"spec":{"parent":"`+parent+`"}}`)
		if !apierrors.IsNotFound(err) {
			return err
		}
		_, err = u.HNC.HncV1beta1().Hierarchies(namespace).Create(t.Context(), &v1beta1.Hierarchy{
			ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent},
		}, metav1.CreateOptions{})
		return err
	})
}

func patchNamespace(t *testing.T, u user, name, patch string) {
	t.Helper()
	_, err := u.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	must(t, err)
}

func trySubnamespace(t *testing.T, u user, parent, name string) error {
	t.Helper()
	_, err := u.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

func eventuallyCopied(t *testing.T, namespace, binding string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("RoleBinding %s/%s is there", namespace, binding), func() error {
		_, err := root.RbacV1().RoleBindings(namespace).Get(t.Context(), binding, metav1.GetOptions{})
		return err
	})
}

func eventuallyNotCopied(t *testing.T, namespace, binding string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("RoleBinding %s/%s goes", namespace, binding), func() error {
		_, err := root.RbacV1().RoleBindings(namespace).Get(t.Context(), binding, metav1.GetOptions{})
		return absent(err)
	})
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// absent turns what a read gives into an error unless it found nothing.
func absent(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err == nil:
		return fmt.Errorf("it is there")
	}
	return err
}

func eventuallyGone(t *testing.T, namespace string) {
	t.Helper()
	suite.Eventually(t, "namespace "+namespace+" goes", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("it is %s: %v", ns.Status.Phase, ns.Status.Conditions)
		}
		return absent(err)
	})
}

func hierarchy(t *testing.T, namespace string) *v1beta1.Hierarchy {
	t.Helper()
	h, err := root.HNC.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	must(t, err)
	return h
}

// eventuallyReports waits until the hierarchy of a namespace has a true condition of the reason.
func eventuallyReports(t *testing.T, namespace, reason string) {
	t.Helper()
	suite.Eventually(t, "the hierarchy of "+namespace+" reports "+reason, func() error {
		conditions := hierarchy(t, namespace).Status.Conditions
		for _, c := range conditions {
			if c.Reason == reason && c.Status == metav1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", conditions)
	})
}

func eventuallyReady(t *testing.T, namespace string) {
	t.Helper()
	suite.Eventually(t, "the hierarchy of "+namespace+" is ready", func() error {
		if conditions := hierarchy(t, namespace).Status.Conditions; !meta.IsStatusConditionTrue(conditions, hnc.ConditionReady) {
			return fmt.Errorf("its conditions are %v", conditions)
		}
		return nil
	})
}

// eventuallyVoid waits until a Subnamespace is known to have no effect.
func eventuallyVoid(t *testing.T, parent, name string) {
	t.Helper()
	suite.Eventually(t, "Subnamespace "+parent+"/"+name+" is void", func() error {
		s, err := root.HNC.HncV1beta1().Subnamespaces(parent).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && (s.Annotations[hnc.AnnotationVoid] != "true" || s.Status.State != v1beta1.SubnamespaceConflict) {
			err = fmt.Errorf("it has the annotations %v and the status %v", s.Annotations, s.Status)
		}
		return err
	})
}

// below reports whether the labels of a namespace say that it is below the ancestor.
func below(t *testing.T, namespace, ancestor string) bool {
	t.Helper()
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	must(t, err)
	_, ok := ns.Labels[hnc.TreeLabel(ancestor)]
	return ok
}

func forbidden(t *testing.T, err error, parts ...string) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Fatalf("want it forbidden, got: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("want a message with %q, got: %v", part, err)
		}
	}
}
