package upgrade

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Nothing comes after this: every namespace can be deleted, and goes.
func TestEverythingThatWasRecordedCanBeDeleted(t *testing.T) {
	remaining := func() []string {
		now, err := present(t.Context())
		must(t, err)
		var names []string
		for key := range now {
			if name, ok := strings.CutPrefix(key, "namespaces//"); ok {
				names = append(names, name)
			}
		}
		return names
	}
	suite.Eventually(t, "all namespaces go", func() error {
		var errs []error
		for _, name := range remaining() {
			errs = append(errs, fmt.Errorf("%s is there: %w", name, deleteNamespace(t, name)))
		}
		return errors.Join(errs...)
	})
}

// deleteNamespace deletes a namespace by what stands for it.
func deleteNamespace(t *testing.T, name string) error {
	t.Helper()
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || ns.DeletionTimestamp != nil {
		return ignoreMissing(err)
	}
	// A required child would come back.
	h, err := root.HNC.HncV1beta1().Hierarchies(name).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err == nil && len(h.Spec.RequiredChildren) > 0 {
		if err := tryHierarchy(t, root, name, `{"spec":{"requiredChildren":null}}`); err != nil {
			return err
		}
	}
	parent := ns.Annotations[hnc.AnnotationSubnamespaceOf]
	if parent != "" {
		var list *v1beta1.SubnamespaceList
		if list, err = root.HNC.HncV1beta1().Subnamespaces(parent).List(t.Context(), metav1.ListOptions{}); err != nil {
			return err
		}
		if slices.ContainsFunc(list.Items, func(s v1beta1.Subnamespace) bool { return s.Name == name }) {
			return root.HNC.HncV1beta1().Subnamespaces(parent).Delete(t.Context(), name, metav1.DeleteOptions{})
		}
	}
	return root.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{})
}
