package managed

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Spec/hnc.md 2.1, with each way to exclude a namespace.
func TestExcludedNamespacesTakeNoPart(t *testing.T) {
	namespace(t, "part")
	namespace(t, "vault")
	namespace(t, "legacy")
	namespace(t, "off", "hierarchy=off")
	for name, why := range map[string]string{"vault": "by the administrator", "legacy": "[a-km-z].*", "off": "hierarchy=off"} {
		t.Run("H1 H2 A3 "+name, func(t *testing.T) {
			refused(t, "H1", setHierarchy(t, alice, name, parent("")), apierrors.IsForbidden, `namespace "`+name+`" is excluded from hierarchies`, why)
			refused(t, "H2", setHierarchy(t, alice, "part", parent(name)), apierrors.IsForbidden, `spec.parent: namespace "`+name+`" is excluded`, why)
			refused(t, "A3", subnamespace(t, name, "any", v1beta1.SubnamespaceSpec{}), apierrors.IsForbidden, `namespace "`+name+`" is excluded`, why)
			eventuallyHas(t, name, hnc.LabelIncludedNamespace+"!", hnc.TreeLabel(name)+"!")
		})
	}
	// The patched policies agree: what is excluded by name does not get the label even for a moment.
	suite.Eventually(t, "the policies know of vault", func() error {
		ns, err := root.CoreV1().Namespaces().Patch(t.Context(), "vault", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && ns.Labels[hnc.LabelIncludedNamespace] != "" {
			err = fmt.Errorf("it would get the label")
		}
		return err
	})
	for _, name := range []string{"kube-public", "lost"} {
		t.Run("A4 BAD-11 an excluded name: "+name, func(t *testing.T) {
			refused(t, "A4", subnamespace(t, "part", name, v1beta1.SubnamespaceSpec{}), apierrors.IsForbidden, "metadata.name: namespace \""+name+"\" is excluded")
		})
	}
	refused(t, "A4", subnamespace(t, "part", "off", v1beta1.SubnamespaceSpec{}), apierrors.IsForbidden, "metadata.name: ", "hierarchy=off")
}

func TestALabelTakesANamespaceOutOfItsTreeAndBack(t *testing.T) {
	namespace(t, "top")
	namespace(t, "mid")
	namespace(t, "mid-child")
	mustSetHierarchy(t, "top", labels("team=red"))
	mustSetHierarchy(t, "mid", parent("top"))
	mustSetHierarchy(t, "mid-child", parent("mid"))
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "inherited"}}
	if _, err := alice.RbacV1().Roles("top").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	copied := func(namespace string, want bool) {
		t.Helper()
		suite.Eventually(t, fmt.Sprintf("the role is in %s: %t", namespace, want), func() error {
			_, err := root.RbacV1().Roles(namespace).Get(t.Context(), "inherited", metav1.GetOptions{})
			if want || !apierrors.IsNotFound(err) {
				if err == nil && !want {
					err = fmt.Errorf("it is still there")
				}
				return err
			}
			return nil
		})
	}
	copied("mid", true)
	copied("mid-child", true)

	patchNamespace(t, "mid", `{"metadata":{"labels":{"hierarchy":"off"}}}`)
	eventuallyHas(t, "mid", "top.tree.hnc.x-k8s.io/depth!", hnc.LabelIncludedNamespace+"!")
	eventuallyConditions(t, "mid", "Ready=NamespaceExcluded", "hierarchy=off")
	eventuallyConditions(t, "mid-child", "ActivitiesHalted=IllegalParent Ready=IllegalParent", `parent "mid" is excluded`)
	copied("mid", false)
	copied("mid-child", true) // halted: nothing is written or removed

	patchNamespace(t, "mid", `{"metadata":{"labels":{"hierarchy":null}}}`)
	eventuallyHas(t, "mid", "top.tree.hnc.x-k8s.io/depth=1", hnc.LabelIncludedNamespace+"=true", "team=red")
	eventuallyHas(t, "mid-child", "top.tree.hnc.x-k8s.io/depth=2", "team=red")
	eventuallyConditions(t, "mid-child", "Ready=Ready")
	copied("mid", true)
}

// Spec/hnc.md 2.10.
func TestN5H6ExternalNamespacesAreRoots(t *testing.T) {
	namespace(t, "outside", "@hnc.x-k8s.io/managed-by=somebody", "org.tree.hnc.x-k8s.io/depth=1", "team=theirs")
	namespace(t, "inside")
	refused(t, "H6", setHierarchy(t, alice, "outside", parent("inside")), apierrors.IsForbidden, `managed by "somebody"`)
	mustSetHierarchy(t, "outside", labels("env=test", "team=ours"))
	mustSetHierarchy(t, "inside", parent("outside"))
	eventuallyHas(t, "outside", "outside.tree.hnc.x-k8s.io/depth=0", "org.tree.hnc.x-k8s.io/depth=1", "team=theirs", "env=test")
	eventuallyHas(t, "inside", "outside.tree.hnc.x-k8s.io/depth=1", "org.tree.hnc.x-k8s.io/depth=2", "team=theirs", "env=test")
	if err := subnamespace(t, "outside", "outside-sub", v1beta1.SubnamespaceSpec{}); err != nil {
		t.Errorf("a sub-namespace of an external namespace: %v", err)
	}

	// N5, by users allowed to change namespaces.
	suite.Eventually(t, "N5: a child is not given to somebody else", func() error {
		_, err := root.CoreV1().Namespaces().Patch(t.Context(), "inside", types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"hnc.x-k8s.io/managed-by":"somebody"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "is a child of outside") {
			return fmt.Errorf("it was not refused so: %w", err)
		}
		return nil
	})
	// One that got past it, here because its parent was missing, keeps its parent.
	namespace(t, "astray")
	namespace(t, "doomed")
	mustSetHierarchy(t, "astray", parent("doomed"))
	eventuallyHas(t, "astray", "doomed.tree.hnc.x-k8s.io/depth=1")
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "doomed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyConditions(t, "astray", "ActivitiesHalted=ParentMissing Ready=ParentMissing")
	eventuallyHas(t, "astray", "doomed.tree.hnc.x-k8s.io/depth!")
	patchNamespace(t, "astray", `{"metadata":{"annotations":{"hnc.x-k8s.io/managed-by":"somebody"}}}`)
	eventuallyHas(t, "astray", "@hnc.x-k8s.io/managed-by!")
	eventuallyConditions(t, "astray", "ActivitiesHalted=ParentMissing Ready=ParentMissing")
	mustSetHierarchy(t, "astray", parent(""))
	eventuallyConditions(t, "astray", "Ready=Ready")
}
