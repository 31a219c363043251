package migrate

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// pretender is a namespace whose users have written, before the migration, what only a controller should write.
const pretender = "pretender"

// pretend creates a namespace with the tree label of another tree, and objects in it that look like copies, of a propagated kind and of another one.
func pretend(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: pretender, Labels: map[string]string{hnc.TreeLabel(root): "1", hnc.LabelInTree: "true", hnc.LabelHasSubnamespaces: "true"},
	}}, metav1.CreateOptions{})
	meta := metav1.ObjectMeta{Name: "pretended", Labels: map[string]string{hnc.LabelInheritedFrom: root}}
	_, propagated := admin.CoreV1().ConfigMaps(pretender).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	_, other := admin.CoreV1().LimitRanges(pretender).Create(ctx, &corev1.LimitRange{ObjectMeta: meta}, metav1.CreateOptions{})
	if err := errors.Join(err, propagated, other); err != nil {
		t.Fatal(err)
	}
}

// corrected checks that none of this made the namespace part of a tree: the propagator takes the labels away and deletes the alleged copy. Objects of kinds
// that are not propagated stay.
func corrected(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	suite.Eventually(t, "the labels are taken away", func() error {
		ns, err := admin.CoreV1().Namespaces().Get(ctx, pretender, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, label := range []string{hnc.TreeLabel(root), hnc.LabelInTree, hnc.LabelHasSubnamespaces} {
			if value, ok := ns.Labels[label]; ok {
				return fmt.Errorf("it has the label %s=%s", label, value)
			}
		}
		return nil
	})
	suite.Eventually(t, "the alleged copy is deleted", func() error {
		_, err := admin.CoreV1().ConfigMaps(pretender).Get(ctx, "pretended", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it exists: %w", err)
	})
	if _, err := admin.CoreV1().LimitRanges(pretender).Get(ctx, "pretended", metav1.GetOptions{}); err != nil {
		t.Errorf("the object of a kind that is not propagated: %v", err)
	}
	h, err := admin.HNC.HncV1beta1().Hierarchies(pretender).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if err == nil && h.Spec.Parent != "" {
		t.Errorf("it has the parent %s", h.Spec.Parent)
	}
}
