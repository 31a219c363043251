package servers

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A namespace leaves a tree, and then an object appears in the tree's root that has the name of one in the namespace.
// The propagator may hear of the object before it hears of the move: it must not overwrite, on outdated news, what
// nobody can bring back.
func TestALocalObjectOfANamespaceThatHasLeftIsNotOverwritten(t *testing.T) {
	const guests, root, stays = 20, "outdated-root", "outdated-stays"
	startPropagator(t)
	grant := func(namespace, to string) string {
		t.Helper()
		created, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "same-name"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: to}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(created.UID)
	}
	createNamespaces(t, root, stays)
	if err := admin.apply(t, hierarchies, stays, root); err != nil {
		t.Fatal(err)
	}
	local := map[string]string{}
	for i := range guests {
		guest := fmt.Sprintf("outdated-guest-%d", i)
		createNamespaces(t, guest)
		local[guest] = grant(guest, "local")
		if err := admin.apply(t, hierarchies, guest, root); err != nil {
			t.Fatal(err)
		}
	}
	for guest := range local {
		waitForLabel(t, guest, hnc.TreeLabel(root))
	}
	// The watches were broken, and each starts again after a time of its own.
	restartRegistered(t)
	for guest := range local {
		if err := admin.apply(t, hierarchies, guest, ""); err != nil {
			t.Fatal(err)
		}
	}
	grant(root, "inherited")
	waitForCopy(t, stays, "same-name")
	for guest, uid := range local {
		eventually(t, "the propagator has heard of the move of "+guest, func() error {
			namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), guest, metav1.GetOptions{})
			if err == nil && namespace.Labels[hnc.TreeLabel(root)] != "" {
				err = fmt.Errorf("labels: %v", namespace.Labels)
			}
			return err
		})
		binding, err := admin.RbacV1().RoleBindings(guest).Get(t.Context(), "same-name", metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			t.Errorf("the local object of %s is gone", guest)
		case err != nil:
			t.Fatal(err)
		case string(binding.UID) != uid || binding.Subjects[0].Name != "local" || binding.Labels[hnc.LabelInheritedFrom] != "":
			t.Errorf("the local object of %s was overwritten: %v %v", guest, binding.Labels, binding.Subjects)
		}
	}
}
