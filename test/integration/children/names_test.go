package children

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/applyconfiguration/hnc/v1beta1"
)

// withNames sets the rule for the names of sub-namespaces, which has effect at once, until the test ends.
func withNames(t *testing.T, rule string) {
	t.Helper()
	set := func(ctx context.Context, rule string) {
		if _, err := root.HNC.HncV1beta1().HNCConfigurations().Patch(ctx, hnc.ConfigurationName, types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"subnamespaceNames":%s}}`, rule), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	set(t.Context(), rule)
	t.Cleanup(func() { set(context.WithoutCancel(t.Context()), "null") })
}

// Who may edit a namespace can take any free name, among them one that a binding somewhere trusts. The cluster can
// forbid that.
func TestNamesOfSubnamespacesCanBeRestricted(t *testing.T) {
	namespaces(t, "names")
	mallory := newUser(t, "mallory-names")
	mallory.bind(t, "names", "edit")
	mallory.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", "names", "")
	mallory.grant(t, "names", "get,create,update,patch hnc.x-k8s.io/hierarchies")
	if _, err := mallory.subnamespace(t, "names", "argocd"); err != nil {
		t.Fatalf("without a rule: %v", err)
	}
	lost := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "lost-record", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "names"}}}
	if _, err := root.CoreV1().Namespaces().Create(t.Context(), lost, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mallory.admin(t, "lost-record")
	withNames(t, `{"prefix":"Parent"}`)

	const says = `must start with "names-", as required by spec.subnamespaceNames.prefix of hncconfigurations.hnc.x-k8s.io "config"; choose another name`
	anchors := mallory.Dynamic.Resource(v1alpha2.SchemeGroupVersion.WithResource("subnamespaceanchors")).Namespace("names")
	anchor := applied(v1alpha2.SchemeGroupVersion.String(), "SubnamespaceAnchor", map[string]any{"spec": map[string]any{}})
	anchor.SetName("velero")
	for way, take := range map[string]func() error{
		"create": func() error {
			_, err := mallory.subnamespace(t, "names", "velero")
			return err
		},
		"apply": func() error {
			_, err := mallory.HNC.HncV1beta1().Subnamespaces("names").Apply(t.Context(), v1beta1.Subnamespace("velero", "names"), metav1.ApplyOptions{FieldManager: "test"})
			return err
		},
		"create in v1alpha2": func() error {
			_, err := anchors.Create(t.Context(), anchor, metav1.CreateOptions{})
			return err
		},
		"create in v1alpha2 at the item's URL": func() error {
			body, err := anchor.MarshalJSON()
			if err != nil {
				return err
			}
			return mallory.CoreV1().RESTClient().Post().AbsPath("/apis/hnc.x-k8s.io/v1alpha2/namespaces/names/subnamespaceanchors/velero").Body(body).Do(t.Context()).Error()
		},
		"require": func() error { return mallory.hierarchy(t, "names", requires("names-a", "velero")) },
	} {
		refused(t, way, take(), apierrors.IsForbidden, says)
	}
	if _, err := root.CoreV1().Namespaces().Get(t.Context(), "velero", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if _, err := mallory.subnamespace(t, "names", "names-b"); err != nil {
		t.Errorf("a name that the rule allows: %v", err)
	}
	t.Run("sub-namespaces that exist stay usable", func(t *testing.T) {
		if _, err := mallory.subnamespace(t, "argocd", "argocd-child"); err != nil {
			t.Error(err)
		}
		if _, err := root.HNC.HncV1beta1().Subnamespaces("names").Patch(t.Context(), "argocd", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"changed":"true"}}}`), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := mallory.subnamespace(t, "names", "lost-record"); err != nil {
			t.Errorf("the Subnamespace of a sub-namespace: %v", err)
		}
	})
	t.Run("a pattern matches the whole name", func(t *testing.T) {
		withNames(t, `{"pattern":"names-[a-z]+","prefix":"None"}`)
		_, err := mallory.subnamespace(t, "names", "names-c1")
		refused(t, "names-c1", err, apierrors.IsForbidden, `must match "names-[a-z]+"`, "spec.subnamespaceNames.pattern")
		if _, err := mallory.subnamespace(t, "names", "names-c"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a bad rule is refused", func(t *testing.T) {
		_, err := root.HNC.HncV1beta1().HNCConfigurations().Patch(t.Context(), hnc.ConfigurationName, types.MergePatchType,
			[]byte(`{"spec":{"subnamespaceNames":{"pattern":"(","prefix":"Grandparent"}}}`), metav1.PatchOptions{})
		refused(t, "rule", err, apierrors.IsInvalid, "spec.subnamespaceNames.pattern", "RE2", "spec.subnamespaceNames.prefix", "Parent")
	})
}
