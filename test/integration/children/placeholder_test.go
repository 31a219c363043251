package children

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A client that creates a hierarchy does not learn that there is one already because the propagator has reported a
// status meanwhile. What a user has created is not replaced.
func TestCreatingAHierarchyReplacesThePropagatorsOwn(t *testing.T) {
	creates := map[string]func(u user, namespace string) error{
		"v1beta1": func(u user, namespace string) error {
			h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{AllowCascadingDeletion: ptr.To(true)}}
			created, err := u.HNC.HncV1beta1().Hierarchies(namespace).Create(t.Context(), h, metav1.CreateOptions{})
			if err == nil && (created.Generation != 1 || len(created.Status.Children) != 1) {
				return fmt.Errorf("got %+v", created)
			}
			return err
		},
		"v1alpha2": func(u user, namespace string) error {
			h := &v1alpha2.HierarchyConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1alpha2.HierarchyConfigurationSpec{AllowCascadingDeletion: ptr.To(true)}}
			_, err := u.HNC.HncV1alpha2().HierarchyConfigurations(namespace).Create(t.Context(), h, metav1.CreateOptions{})
			return err
		},
	}
	for version, create := range creates {
		reported, labelled, empty := version+"-reported", version+"-labelled", version+"-empty"
		namespaces(t, reported, labelled, empty)
		alice := newUser(t, "alice-"+reported)
		for _, namespace := range []string{reported, labelled, empty} {
			alice.grant(t, namespace, "create hnc.x-k8s.io/hierarchies", "create hnc.x-k8s.io/hierarchyconfigurations")
		}
		if _, err := root.HNC.HncV1beta1().Hierarchies(empty).Create(t.Context(), &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, namespace := range []string{reported, labelled} {
			namespaces(t, namespace+"-child")
			if err := root.hierarchy(t, namespace+"-child", below(namespace)); err != nil {
				t.Fatal(err)
			}
			suite.Eventually(t, "the propagator has reported a child of "+namespace, func() error {
				_, err := root.HNC.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
				return err
			})
		}
		if _, err := root.HNC.HncV1beta1().Hierarchies(labelled).Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, version+": created over the propagator's record", func() error {
			h, err := root.HNC.HncV1beta1().Hierarchies(reported).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
			if err != nil || len(h.Status.Children) == 0 {
				return fmt.Errorf("it has no status yet: %v, %w", h, err)
			}
			return create(alice, reported)
		})
		for what, namespace := range map[string]string{"its own": reported, "a labelled one": labelled, "an empty one of a user": empty} {
			refused(t, version+" over "+what, create(alice, namespace), apierrors.IsAlreadyExists)
		}
		h, err := root.HNC.HncV1beta1().Hierarchies(reported).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil || h.Spec.AllowCascadingDeletion == nil || !*h.Spec.AllowCascadingDeletion || len(h.Status.Children) != 1 {
			t.Errorf("%s: got %+v, %v", version, h, err)
		}
	}
}
