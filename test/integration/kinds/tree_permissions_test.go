package kinds

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var (
	hierarchies             = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1beta1", Resource: "hierarchies"}
	hierarchyConfigurations = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchyconfigurations"}
)

// said returns what a hierarchy says, as "resource=mode".
func said(t *testing.T, namespace string) string {
	t.Helper()
	h, err := alice.HNC.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, r := range h.Spec.Propagation {
		words = append(words, r.Resource+"="+string(r.Mode))
	}
	return strings.Join(words, " ")
}

// Carol may do anything with hierarchies, under both of their names. What she lacks is the one right.
func TestWhatIsPropagatedIsNotForEveryAdmin(t *testing.T) {
	root, mid, leaf := tree(t, "permissions")
	namespace(t, "permissions-alone", "")
	for _, ns := range []string{mid, "permissions-alone"} {
		letCarol(t, ns) // but not in the root of the tree
	}
	// So she has it in leaf, too.
	suite.EventuallyEqual(t, "the binding in "+leaf, "<nil>", func() string {
		_, err := admin.RbacV1().RoleBindings(leaf).Get(t.Context(), "carol-propagation-"+mid, metav1.GetOptions{})
		return fmt.Sprint(err)
	})
	suite.Must(t, "she has it elsewhere", func() error { return say(t.Context(), carol, "permissions-alone", "secrets Propagate") })
	if err := say(t.Context(), admin, leaf, "secrets Ignore"); err != nil {
		t.Fatal(err)
	}
	patched := func(resource schema.GroupVersionResource, namespace, body string) error {
		_, err := carol.Dynamic.Resource(resource).Namespace(namespace).Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(body), metav1.PatchOptions{})
		return err
	}
	for name, test := range map[string]struct {
		try func() error
		// root is where the permission is missing.
		root string
	}{
		"create":       {func() error { return say(t.Context(), carol, root, "secrets Propagate") }, root},
		"update":       {func() error { return say(t.Context(), carol, mid, "secrets Propagate") }, root},
		"patch":        {func() error { return patched(hierarchies, mid, `{"spec":{"propagation":[{"resource":"secrets"}]}}`) }, root},
		"take it away": {func() error { return say(t.Context(), carol, leaf) }, root},
		"with a move into the tree": {func() error {
			return change(t.Context(), carol, "permissions-alone", func(spec *v1beta1.HierarchySpec) {
				spec.Parent, spec.Propagation = mid, resources("secrets AllowPropagate")
			})
		}, root},
		"with a move of what is set already": {func() error {
			return change(t.Context(), carol, "permissions-alone", func(spec *v1beta1.HierarchySpec) { spec.Parent = mid })
		}, root},
		"apply": {func() error {
			_, err := carol.Dynamic.Resource(hierarchies).Namespace(mid).Apply(t.Context(), hnc.Singleton, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "hnc.x-k8s.io/v1beta1", "kind": "Hierarchy", "metadata": map[string]any{"name": hnc.Singleton},
				"spec": map[string]any{"propagation": []any{map[string]any{"resource": "secrets", "mode": "Propagate"}}},
			}}, metav1.ApplyOptions{FieldManager: "test"})
			return err
		}, root},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.try()
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `update on hierarchies/propagation.hnc.x-k8s.io in namespace "`+test.root+`"`) {
				t.Errorf("error %v", err)
			}
		})
	}
	// Everything else she may.
	allow := true
	if err := change(t.Context(), carol, leaf, func(spec *v1beta1.HierarchySpec) { spec.AllowCascadingDeletion = &allow }); err != nil {
		t.Error(err)
	}
	// A move takes what is said along, to where she has the permission.
	if err := change(t.Context(), carol, leaf, func(spec *v1beta1.HierarchySpec) { spec.Parent = "permissions-alone" }); err != nil {
		t.Error(err)
	}
	if got := said(t, leaf); got != "secrets=Ignore" {
		t.Errorf("after the move it says %q", got)
	}
	// Here she has the permission, in the root of the tree alone.
	suite.Must(t, "in her own tree", func() error { return say(t.Context(), carol, leaf, "secrets Remove") })
	t.Run("delete", func(t *testing.T) {
		if err := say(t.Context(), admin, mid, "secrets Ignore"); err != nil {
			t.Fatal(err)
		}
		// Mid would be a root of its own, where she has the permission; but not with the hierarchy of a sub-namespace.
		s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "permissions-sub"}}
		if _, err := alice.HNC.HncV1beta1().Subnamespaces(mid).Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := say(t.Context(), admin, "permissions-sub", "secrets Ignore"); err != nil {
			t.Fatal(err)
		}
		client := carol.HNC.HncV1beta1().Hierarchies("permissions-sub")
		if err := client.Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "propagation") {
			t.Errorf("one: %v", err)
		}
		if err := client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "propagation") {
			t.Errorf("all: %v", err)
		}
		suite.Must(t, "where it is the root afterwards", func() error {
			return carol.HNC.HncV1beta1().Hierarchies(mid).Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{})
		})
	})
	// A namespace goes whatever is said in it, by any user allowed to delete it.
	if err := alice.CoreV1().Namespaces().Delete(t.Context(), leaf, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "the namespace is gone", "true", func() string {
		_, err := alice.CoreV1().Namespaces().Get(t.Context(), leaf, metav1.GetOptions{})
		return boolean(apierrors.IsNotFound(err))
	})
}

// v1alpha2 has no spec.propagation, so nothing that is written in it changes what a tree says, with the permission or
// without.
func TestV1alpha2ChangesNothingThatATreeSaysAboutKinds(t *testing.T) {
	root, _, _ := tree(t, "hncclient")
	if err := say(t.Context(), admin, root, "secrets Propagate Keep"); err != nil {
		t.Fatal(err)
	}
	client := carol.Dynamic.Resource(hierarchyConfigurations).Namespace(root)
	for name, list := range map[string]any{"another": []any{map[string]any{"resource": "configmaps"}}, "none": []any{}, "null": nil} {
		if err := retry.RetryOnConflict(suite.Backoff, func() error {
			h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
			if err != nil {
				return err
			}
			h.Object["spec"].(map[string]any)["allowCascadingDeletion"] = true
			h.Object["spec"].(map[string]any)["propagation"] = list
			_, err = client.Update(t.Context(), h, metav1.UpdateOptions{})
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := said(t, root); got != "secrets=Propagate" {
			t.Errorf("%s: it says %q", name, got)
		}
	}
}

// TestBadKindsOfATree has the rows of docs/spec/hnc.md 2.6 for hierarchies.
func TestBadKindsOfATree(t *testing.T) {
	namespace(t, "badkinds", "")
	letCarol(t, "badkinds")
	suite.Must(t, "carol may", func() error { return say(t.Context(), carol, "badkinds", "secrets Propagate") })
	for name, test := range map[string]struct {
		entries []string
		says    []string
	}{
		"K3 a kind that does not exist":      {[]string{"gizmos.example.org Propagate"}, []string{"spec.propagation[0]", "no such resource"}},
		"K3 a kind that is not namespaced":   {[]string{"configmaps Propagate", "nodes Propagate"}, []string{"spec.propagation[1]", "not namespaced"}},
		"K4 roles":                           {[]string{"roles.rbac.authorization.k8s.io Remove"}, []string{"spec.propagation[0]", "always propagated"}},
		"K5 twice":                           {[]string{"secrets Propagate", "secret Ignore"}, []string{"spec.propagation[1]", "spec.propagation[0]"}},
		"K6 all at once":                     {[]string{"nodes Remove", "gizmos.example.org Remove"}, []string{"spec.propagation[0]", "spec.propagation[1]"}},
		"a mode that there is not":           {[]string{"secrets Copy"}, []string{"spec.propagation[0].mode"}},
		"a conflict policy that there's not": {[]string{"secrets Propagate Merge"}, []string{"spec.propagation[0].onConflict"}},
		"no resource":                        {[]string{".example.org Propagate"}, []string{"spec.propagation[0].resource"}},
		"the hierarchy itself":               {[]string{"subnamespaces.hnc.x-k8s.io Propagate"}, []string{"spec.propagation[0]", "part of the hierarchy"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := say(t.Context(), carol, "badkinds", test.entries...)
			if !apierrors.IsInvalid(err) {
				t.Fatalf("error %v", err)
			}
			for _, part := range test.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
}
