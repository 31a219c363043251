package servers

import (
	"fmt"
	"path"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// A namespace's records outlive it when it is deleted while our API isn't registered, or comes back from a backup. They
// are bound to the namespace that they were made in, so that another one of the same name is in no tree: neither below
// the old parent nor with the old sub-namespaces.
func TestANamespaceMadeAgainDoesNotInheritTheOldTree(t *testing.T) {
	ctx := t.Context()
	const parent, child, holder, sub, later = "rebirth-parent", "rebirth-child", "rebirth-holder", "rebirth-sub", "rebirth-later"
	startPropagator(t)
	createNamespaces(t, parent, child, holder, later)
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "inherited"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "somebody"}},
	}
	if _, err := admin.RbacV1().RoleBindings(parent).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := admin.apply(t, hierarchies, child, parent); err != nil {
		t.Fatal(err)
	}
	waitForCopy(t, child, binding.Name)
	createSubnamespaces(t, holder, sub)

	for _, version := range []string{"v1alpha2.", "v1beta1."} {
		if err := admin.dynamic.Resource(apiServices).Delete(ctx, version+hnc.GroupName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { restartRegistered(t) })
	eventually(t, "the API is gone", func() error {
		if err := admin.apply(t, hierarchies, later, ""); !apierrors.IsNotFound(err) {
			return fmt.Errorf("a write gives %w", err)
		}
		return nil
	})
	deleteNamespaces(t, child, sub, holder)
	createNamespaces(t, child, holder)
	etcd := etcdClient(t)
	for _, key := range []string{"hierarchies/" + child + "/" + hnc.Singleton, "subnamespaces/" + holder + "/" + sub} {
		left, err := etcd.Get(ctx, path.Join(controlplane.EtcdPrefix, hnc.GroupName, key))
		if err != nil {
			t.Fatal(err)
		}
		if left.Count != 1 {
			t.Fatalf("%s is not left over: the test shows nothing", key)
		}
	}
	restartRegistered(t)

	// What the propagator does for a namespace that joins now comes after what it might do for the others.
	if err := admin.apply(t, hierarchies, later, parent); err != nil {
		t.Fatal(err)
	}
	waitForCopy(t, later, binding.Name)
	outside := func() error {
		again, err := admin.CoreV1().Namespaces().Get(ctx, child, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if depth, ok := again.Labels[hnc.TreeLabel(parent)]; ok {
			return fmt.Errorf("namespace %s, made again, is at depth %s below %s", child, depth, parent)
		}
		if _, err := admin.RbacV1().RoleBindings(child).Get(ctx, binding.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("namespace %s, made again, inherits: %w", child, err)
		}
		if _, err := admin.CoreV1().Namespaces().Get(ctx, sub, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("namespace %s was created for a record of another namespace: %w", sub, err)
		}
		return nil
	}
	if err := outside(); err != nil {
		t.Error(err)
	}
	// The old position forbids nothing: what was the parent may go below, and what was the sub-namespace's name is
	// free.
	if err := admin.apply(t, hierarchies, parent, child); err != nil {
		t.Errorf("the old parent below the new namespace: %v", err)
	}
	createSubnamespaces(t, later, sub)
	if namespace, err := admin.CoreV1().Namespaces().Get(ctx, sub, metav1.GetOptions{}); err != nil || namespace.Annotations[hnc.AnnotationSubnamespaceOf] != later {
		t.Errorf("the sub-namespace of %s: %v, %v", later, namespace, err)
	}
	// In the end nothing is left of the old records.
	eventually(t, "the namespace made again has its own position", func() error {
		hierarchy, err := admin.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(child).Get(ctx, hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		children, _, _ := unstructured.NestedStringSlice(hierarchy.Object, "status", "children")
		if fmt.Sprint(children) != fmt.Sprint([]string{parent}) || admin.parentOf(t, child) != "" {
			return fmt.Errorf("its hierarchy is %v", hierarchy.Object)
		}
		return nil
	})
}

// Allowed reviews are cached. The admin of a namespace that is deleted, and created again for somebody else, moves nothing
// below it.
func TestTheAdminOfAnEarlierNamespaceMovesNothingBelowALaterOne(t *testing.T) {
	const own, taken = "earlier-own", "earlier-taken"
	createNamespaces(t, own, taken)
	if err := admin.apply(t, hierarchies, own, ""); err != nil {
		t.Fatal(err)
	}
	earlier := newAccount(t, "earlier-admin")
	earlier.grant(t, fullAdmin, own, taken)
	move := func(dryRun ...string) error {
		_, err := earlier.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(own).Patch(t.Context(), hnc.Singleton,
			types.MergePatchType, []byte(`{"spec":{"parent":"`+taken+`"}}`), metav1.PatchOptions{DryRun: dryRun})
		return err
	}
	if err := move(metav1.DryRunAll); err != nil {
		t.Fatal(err)
	}
	deleteNamespaces(t, taken)
	createNamespaces(t, taken)
	if err := move(); !apierrors.IsForbidden(err) {
		t.Errorf("the move gives %v", err)
	}
}

// waitForCopy returns when a namespace has a RoleBinding of that name.
func waitForCopy(t *testing.T, namespace, name string) {
	t.Helper()
	eventually(t, "RoleBinding "+namespace+"/"+name+" is there", func() error {
		_, err := admin.RbacV1().RoleBindings(namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err
	})
}
