package children

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func abstract(names ...string) func(*v1beta1.HierarchySpec) {
	return func(s *v1beta1.HierarchySpec) { s.AbstractAncestors = names }
}

// newPlatform returns an admin of namespaces who may set abstract ancestors in the whole cluster.
func newPlatform(t *testing.T, name string, namespaces ...string) user {
	t.Helper()
	u := newUser(t, name)
	u.admin(t, namespaces...)
	u.bind(t, "", "hns-abstract-ancestors-admin")
	u.eventuallyMay(t, "update", hnc.GroupName, "hierarchies/abstract", "", "")
	return u
}

// eventuallyLabeled waits until a namespace has exactly these tree labels, and this ancestry.
func eventuallyLabeled(t *testing.T, name, ancestry string, depths map[string]string) {
	t.Helper()
	suite.Eventually(t, "tree labels of "+name, func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		has := map[string]string{}
		for key, value := range ns.Labels {
			if ancestor, ok := hnc.TreeLabelAncestor(key); ok {
				has[ancestor] = value
			}
		}
		if got := ns.Annotations[hnc.AnnotationAncestry]; fmt.Sprint(has) != fmt.Sprint(depths) || got != ancestry {
			return fmt.Errorf("got %v and ancestry %q", has, got)
		}
		return nil
	})
}

func TestAbstractAncestorsLabelTheSubtree(t *testing.T) {
	namespaces(t, "abs-leaf", "abs-full")
	platform := newPlatform(t, "abs-platform", "abs-leaf", "abs-full")
	if err := platform.hierarchy(t, "abs-leaf", abstract("abs-eng", "abs-top")); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-leaf", "abs-leaf.abs-eng.abs-top", map[string]string{"abs-leaf": "0", "abs-eng": "1", "abs-top": "2"})
	// The live hierarchy goes on below.
	if _, err := platform.subnamespace(t, "abs-leaf", "abs-sub"); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-sub", "abs-sub.abs-leaf.abs-eng.abs-top", map[string]string{"abs-sub": "0", "abs-leaf": "1", "abs-eng": "2", "abs-top": "3"})
	if err := platform.hierarchy(t, "abs-full", below("abs-sub")); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-full", "abs-full.abs-sub.abs-leaf.abs-eng.abs-top",
		map[string]string{"abs-full": "0", "abs-sub": "1", "abs-leaf": "2", "abs-eng": "3", "abs-top": "4"})
	// A subtree that leaves takes none of them along.
	if err := platform.hierarchy(t, "abs-full", below("")); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-full", "abs-full", map[string]string{"abs-full": "0"})
	if err := platform.hierarchy(t, "abs-leaf", abstract("abs-new")); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-sub", "abs-sub.abs-leaf.abs-new", map[string]string{"abs-sub": "0", "abs-leaf": "1", "abs-new": "2"})

	// HNC's version does not show them, and does not lose them.
	old := platform.Dynamic.Resource(schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchyconfigurations"}).Namespace("abs-leaf")
	if err := retry.RetryOnConflict(suite.Backoff, func() error {
		h, err := old.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if spec, ok := h.Object["spec"].(map[string]any); ok && spec["abstractAncestors"] != nil {
			t.Errorf("v1alpha2 shows %v", spec)
		}
		h.Object["spec"] = map[string]any{"allowCascadingDeletion": true}
		_, err = old.Update(t.Context(), h, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_, err := old.Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"spec":{"parent":"abs-full"}}`), metav1.PatchOptions{})
	refused(t, "a parent in v1alpha2", err, apierrors.IsInvalid, "spec.parent", "abs-new", "v1beta1")
	now, err := root.HNC.HncV1beta1().Hierarchies("abs-leaf").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(now.Spec.AbstractAncestors) != "[abs-new]" || now.Spec.AllowCascadingDeletion == nil {
		t.Errorf("after an update in v1alpha2: %+v", now.Spec)
	}

	if err := platform.hierarchy(t, "abs-leaf", abstract()); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-leaf", "abs-leaf", map[string]string{"abs-leaf": "0"})
	eventuallyLabeled(t, "abs-sub", "abs-sub.abs-leaf", map[string]string{"abs-sub": "0", "abs-leaf": "1"})
}

// Carol has all permissions in her namespaces. What she lacks are permissions in those that the names stand for.
func TestTenantsDoNotChooseTheirAbstractAncestors(t *testing.T) {
	namespaces(t, "abs-own", "abs-bare", "abs-victim", "abs-above")
	platform := newPlatform(t, "abs-owner", "abs-own")
	carol := newUser(t, "abs-carol")
	carol.admin(t, "abs-above")
	for _, name := range []string{"abs-own", "abs-bare"} {
		carol.bind(t, name, "cluster-admin")
		carol.eventuallyMay(t, "update", hnc.GroupName, "hierarchies/abstract", name, "")
	}
	if err := platform.hierarchy(t, "abs-own", abstract("abs-dir")); err != nil {
		t.Fatal(err)
	}
	right := "update on hierarchies/abstract.hnc.x-k8s.io"
	client := carol.HNC.HncV1beta1().Hierarchies("abs-own")
	for what, try := range map[string]func() error{
		"the directory of others": func() error { return carol.hierarchy(t, "abs-bare", abstract("abs-dir")) },
		"the tree of others":      func() error { return carol.hierarchy(t, "abs-bare", abstract("abs-victim")) },
		"another one":             func() error { return carol.hierarchy(t, "abs-own", abstract("abs-dir", "abs-more")) },
		"none any more":           func() error { return carol.hierarchy(t, "abs-own", abstract()) },
		"a patch": func() error {
			_, err := client.Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"spec":{"abstractAncestors":null}}`), metav1.PatchOptions{})
			return err
		},
		"a parent instead": func() error {
			return carol.hierarchy(t, "abs-own", func(s *v1beta1.HierarchySpec) { s.Parent, s.AbstractAncestors = "abs-above", nil })
		},
		"deletion": func() error { return client.Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}) },
		"deletion of all": func() error {
			return client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
		},
		"the removed field": func() error {
			return carol.hierarchy(t, "abs-own", func(s *v1beta1.HierarchySpec) { *s = v1beta1.HierarchySpec{} })
		},
	} {
		refused(t, what, try(), apierrors.IsForbidden, "spec.abstractAncestors: user \"abs-carol\"", right)
	}
	refused(t, "a parent as well", carol.hierarchy(t, "abs-own", below("abs-above")), apierrors.IsInvalid, "spec.parent", "abs-dir", "remove spec.abstractAncestors")
	// Her permissions on the namespace do not help either: no annotation makes it a child, or another tool's.
	patch := func(annotation string) error {
		_, err := carol.CoreV1().Namespaces().Patch(t.Context(), "abs-own", types.MergePatchType, []byte(`{"metadata":{"annotations":{`+annotation+`}}}`), metav1.PatchOptions{})
		return err
	}
	eventuallyLabeled(t, "abs-own", "abs-own.abs-dir", map[string]string{"abs-own": "0", "abs-dir": "1"})
	refused(t, "external", patch(`"hnc.x-k8s.io/managed-by":"carol"`), apierrors.IsForbidden, "abs-dir", "spec.abstractAncestors")
	refused(t, "the annotation", patch(`"hnc.x-k8s.io/abstract-ancestors":null`), apierrors.IsForbidden, "only the propagator")
	if err := patch(`"hnc.x-k8s.io/subnamespace-of":"abs-above"`); err == nil {
		_, err := carol.subnamespace(t, "abs-above", "abs-own")
		refused(t, "a Subnamespace", err, apierrors.IsConflict, "abstract ancestors abs-dir", "is a root")
	} else {
		refused(t, "the annotation of sub-namespaces", err, apierrors.IsForbidden)
	}
	// Nor does the name of a directory, for which the sub-namespace would have the label.
	suite.Eventually(t, "the name is reserved", func() error {
		_, err := carol.HNC.HncV1beta1().Subnamespaces("abs-above").Create(t.Context(),
			&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "abs-dir"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), right) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	// A child does not leave either: she is an admin of the root, but may not leave the directory.
	namespaces(t, "abs-child", "abs-other")
	carol.admin(t, "abs-child")
	carol.admin(t, "abs-other")
	if err := carol.hierarchy(t, "abs-child", below("abs-own")); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-child", "abs-child.abs-own.abs-dir", map[string]string{"abs-child": "0", "abs-own": "1", "abs-dir": "2"})
	child := carol.HNC.HncV1beta1().Hierarchies("abs-child")
	for what, try := range map[string]func() error{
		"no parent":      func() error { return carol.hierarchy(t, "abs-child", func(s *v1beta1.HierarchySpec) { s.Parent = "" }) },
		"another parent": func() error { return carol.hierarchy(t, "abs-child", below("abs-other")) },
		"no hierarchy":   func() error { return child.Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}) },
	} {
		refused(t, "a child leaves: "+what, try(), apierrors.IsForbidden, "abs-dir", right)
	}
	_, err := client.Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"metadata":{"annotations":{"hnc.x-k8s.io/allow-shared-names":"true"}}}`), metav1.PatchOptions{})
	refused(t, "shared names", err, apierrors.IsForbidden, right)
	// Everything else she may.
	if err := carol.hierarchy(t, "abs-own", requires("abs-required")); err != nil {
		t.Error(err)
	}
	eventuallyLabeled(t, "abs-required", "abs-required.abs-own.abs-dir", map[string]string{"abs-required": "0", "abs-own": "1", "abs-dir": "2"})
	// A namespace is deleted by users allowed to, with everything that it contains.
	suite.Must(t, "it is deleted", func() error {
		return carol.CoreV1().Namespaces().Delete(t.Context(), "abs-bare", metav1.DeleteOptions{})
	})
}

func TestNamesOfAbstractAncestors(t *testing.T) {
	namespaces(t, "abs-shared", "abs-real")
	platform := newPlatform(t, "abs-namer", "abs-shared")
	for what, row := range map[string]struct {
		names []string
		is    func(error) bool
		says  string
	}{
		"the leaf":     {[]string{"abs-shared"}, apierrors.IsInvalid, "spec.abstractAncestors[0]"},
		"twice":        {[]string{"a", "a"}, apierrors.IsInvalid, "spec.abstractAncestors[1]"},
		"no DNS label": {[]string{"a.b"}, apierrors.IsInvalid, "spec.abstractAncestors[0]"},
		"a namespace":  {[]string{"abs-free", "abs-real"}, apierrors.IsInvalid, "spec.abstractAncestors[1]: Invalid value: \"abs-real\": a namespace of this name exists"},
		"an excluded":  {[]string{"kube-system"}, apierrors.IsForbidden, "spec.abstractAncestors[0]"},
	} {
		refused(t, what, platform.hierarchy(t, "abs-shared", abstract(row.names...)), row.is, row.says)
	}
	h := &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Annotations: map[string]string{hnc.AnnotationAllowSharedNames: "true"}},
		Spec:       v1beta1.HierarchySpec{AbstractAncestors: []string{"abs-real", "abs-later"}},
	}
	if _, err := platform.HNC.HncV1beta1().Hierarchies("abs-shared").Create(t.Context(), h, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyLabeled(t, "abs-shared", "abs-shared.abs-real.abs-later", map[string]string{"abs-shared": "0", "abs-real": "1", "abs-later": "2"})
	// The namespace of that name is not a parent: it has no children.
	tree, err := platform.HNC.HncV1beta1().Hierarchies("abs-shared").GetTree(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil || len(tree.Nodes) != 1 || tree.Nodes[0].Parent != "" {
		t.Errorf("tree %+v, %v", tree, err)
	}
	// Without the annotation, the namespaces of these names are reported.
	if _, err := platform.HNC.HncV1beta1().Hierarchies("abs-shared").Patch(t.Context(), hnc.Singleton, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "abs-shared", hnc.ReasonAbstractNameConflict, "abs-real, so", "the nearer one", hnc.AnnotationAllowSharedNames)
	namespaces(t, "abs-later")
	eventuallyReports(t, "abs-shared", hnc.ReasonAbstractNameConflict, "abs-real, abs-later, so")
	if err := platform.hierarchy(t, "abs-shared", abstract("abs-free")); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "abs-shared", "-"+hnc.ReasonAbstractNameConflict)
}
