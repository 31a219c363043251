package managed

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Where Pod Security labels are managed, users who can't write them on the namespace can't write them in its hierarchy
// either.
func TestManagedPodSecurityIsNotForTenants(t *testing.T) {
	const audit = "pod-security.kubernetes.io/audit"
	namespace(t, "audited")
	ctx := t.Context()
	says := func(level string) v1beta1.HierarchySpec {
		return v1beta1.HierarchySpec{Labels: []v1beta1.MetaKVP{{Key: audit, Value: level}}}
	}
	refused := func(what string, err error) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(fmt.Sprint(err), "this needs the verb patch on namespaces") {
			t.Errorf("%s: got %v, want Forbidden that names the permission", what, err)
		}
	}
	object := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: says("restricted")}
	_, err := alice.HNC.HncV1beta1().Hierarchies("audited").Create(ctx, object, metav1.CreateOptions{})
	refused("creating a hierarchy", err)
	if _, err := root.HNC.HncV1beta1().Hierarchies("audited").Create(ctx, object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hierarchies := alice.HNC.HncV1beta1().Hierarchies("audited")
	for what, patch := range map[string]string{
		"loosening": fmt.Sprintf(`{"spec":{"labels":[{"key":%q,"value":"privileged"}]}}`, audit), "removing": `{"spec":{"labels":null}}`,
		"overriding":              fmt.Sprintf(`{"spec":{"namespaceLabels":[{"key":%q,"value":"privileged"}]}}`, audit),
		"leaving descendants out": fmt.Sprintf(`{"spec":{"labels":null,"namespaceLabels":[{"key":%q,"value":"restricted"}]}}`, audit),
	} {
		_, err := hierarchies.Patch(ctx, hnc.Singleton, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		refused(what, err)
	}
	refused("deleting the hierarchy", hierarchies.Delete(ctx, hnc.Singleton, metav1.DeleteOptions{}))
	if _, err := hierarchies.Patch(ctx, hnc.Singleton, types.MergePatchType, []byte(`{"spec":{"allowCascadingDeletion":true}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("another change: %v", err)
	}

	// A root does not inherit it, and neither does what is below another parent.
	namespace(t, "audited-child")
	refused("getting it from a parent", setHierarchy(t, alice, "audited-child", parent("audited")))
	if err := setHierarchy(t, root, "audited-child", parent("audited")); err != nil {
		t.Fatal(err)
	}
	eventuallyHas(t, "audited-child", audit+"=restricted")
	refused("making a child a root", setHierarchy(t, alice, "audited-child", parent("")))
	refused("deleting the hierarchy of a child", alice.HNC.HncV1beta1().Hierarchies("audited-child").Delete(ctx, hnc.Singleton, metav1.DeleteOptions{}))
	if err := setHierarchy(t, root, "audited-child", parent("")); err != nil {
		t.Fatal(err)
	}

	records := alice.HNC.HncV1beta1().Subnamespaces("audited")
	sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "audited-sub"}}
	sub.Spec.Labels = says("privileged").Labels
	_, err = records.Create(ctx, sub, metav1.CreateOptions{})
	refused("creating a sub-namespace", err)
	sub.Spec.Labels = nil
	if _, err := records.Create(ctx, sub, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = records.Patch(ctx, "audited-sub", types.MergePatchType, []byte(fmt.Sprintf(`{"spec":{"labels":[{"key":%q,"value":"privileged"}]}}`, audit)), metav1.PatchOptions{})
	refused("changing a sub-namespace", err)
	ns, err := root.CoreV1().Namespaces().Get(ctx, "audited-sub", metav1.GetOptions{})
	if err != nil || ns.Labels[audit] != "restricted" {
		t.Errorf("got %v, %v", ns.Labels, err)
	}

	// A Subnamespace that is made again replaces what the hierarchy sets.
	if _, err := root.HNC.HncV1beta1().Subnamespaces("audited").Patch(ctx, "audited-sub", types.MergePatchType,
		[]byte(fmt.Sprintf(`{"spec":{"labels":[{"key":%q,"value":"baseline"}]}}`, audit)), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	ofSub := root.HNC.HncV1beta1().Hierarchies("audited-sub")
	saysBaseline := func() error {
		h, err := ofSub.Get(ctx, hnc.Singleton, metav1.GetOptions{})
		if err == nil && (len(h.Spec.Labels) != 1 || h.Spec.Labels[0].Value != "baseline") {
			err = fmt.Errorf("got %+v", h.Spec)
		}
		return err
	}
	suite.Eventually(t, "the hierarchy says what the Subnamespace says", saysBaseline)
	detach := func() {
		byRoot := root.HNC.HncV1beta1().Subnamespaces("audited")
		if _, err := byRoot.Patch(ctx, "audited-sub", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := records.Delete(ctx, "audited-sub", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	detach()
	_, err = records.Create(ctx, sub, metav1.CreateOptions{})
	refused("replacing what the hierarchy of a sub-namespace sets", err)
	if _, err := hierarchies.Patch(ctx, hnc.Singleton, types.MergePatchType, []byte(`{"spec":{"requiredChildren":["audited-sub"]}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the required child takes over what the hierarchy sets", func() error {
		s, err := records.Get(ctx, "audited-sub", metav1.GetOptions{})
		if err == nil && (len(s.Spec.Labels) != 1 || s.Spec.Labels[0].Value != "baseline") {
			t.Fatalf("got %+v", s.Spec)
		}
		return err
	})

	// A hierarchy that is being deleted while it sets none, and goes when it does.
	namespace(t, "audited-later")
	later := alice.HNC.HncV1beta1().Hierarchies("audited-later")
	if _, err := later.Create(ctx, &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Finalizers: []string{"example.com/later"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := later.Delete(ctx, hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := root.HNC.HncV1beta1().Hierarchies("audited-later").Patch(ctx, hnc.Singleton, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"spec":{"labels":[{"key":%q,"value":"restricted"}]}}`, audit)), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = later.Patch(ctx, hnc.Singleton, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	refused("taking the last finalizer", err)
	if _, err := root.HNC.HncV1beta1().Hierarchies("audited-later").Patch(ctx, hnc.Singleton, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}

	// A namespace that is being deleted takes its hierarchy along.
	if err := root.CoreV1().Namespaces().Delete(ctx, "audited", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the namespaces go", func() error {
		for _, name := range []string{"audited", "audited-sub"} {
			if _, err := root.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}
