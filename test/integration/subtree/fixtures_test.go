package subtree

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// ours returns a resource of the group.
func ours(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "resources.hnc.x-k8s.io", Version: "v1alpha2", Resource: name}
}

// marked selects what the tests have made, and not what Kubernetes puts into every namespace.
var marked = metav1.ListOptions{LabelSelector: "test"}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// tree makes the namespaces <base>-root, -mid and -leaf, each below the one before it.
func tree(t *testing.T, base string) (root, mid, leaf string) {
	t.Helper()
	root, mid, leaf = base+"-root", base+"-mid", base+"-leaf"
	namespace(t, root, "")
	namespace(t, mid, root)
	namespace(t, leaf, mid)
	return root, mid, leaf
}

func namespace(t *testing.T, name, parent string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
	must(t, "namespace "+name, err)
	if parent != "" {
		move(t, name, parent)
	}
}

// move gives a namespace a parent, or none.
func move(t *testing.T, name, parent string) {
	t.Helper()
	client := admin.HNC.HncV1beta1().Hierarchies(name)
	suite.EventuallyEqual(t, "hierarchy of "+name, "<nil>", func() string {
		h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			h = &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
			_, err = client.Create(t.Context(), h, metav1.CreateOptions{})
			return fmt.Sprint(err)
		}
		if err == nil {
			h.Spec.Parent = parent
			_, err = client.Update(t.Context(), h, metav1.UpdateOptions{})
		}
		return fmt.Sprint(err)
	})
}

func configMap(t *testing.T, ns, name string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": name}}, Data: map[string]string{"key": name}}
	_, err := admin.CoreV1().ConfigMaps(ns).Create(t.Context(), cm, metav1.CreateOptions{})
	must(t, "config map "+name, err)
}

func secret(t *testing.T, ns, name string) {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": name}}, Data: map[string][]byte{"key": []byte("confidential")}}
	_, err := admin.CoreV1().Secrets(ns).Create(t.Context(), s, metav1.CreateOptions{})
	must(t, "secret "+name, err)
}

// person returns a new ServiceAccount without permissions.
func person(t *testing.T, name string) user {
	t.Helper()
	return personOf(t, people, name)
}

// personOf returns one of a namespace, whose ServiceAccounts count as one user.
func personOf(t *testing.T, home, name string) user {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name}}
	_, err := admin.CoreV1().ServiceAccounts(home).Create(t.Context(), account, metav1.CreateOptions{})
	must(t, name, err)
	config, kubeconfig, err := cp.ServiceAccount(t.Context(), home, name)
	must(t, name, err)
	u, err := clients(name, config)
	must(t, name, err)
	u.kubeconfig, u.home = kubeconfig, home
	return u
}

// may reads "list watch configmaps,secrets" or "list widgets.example.com".
func may(rule string) rbacv1.PolicyRule {
	words := strings.Fields(rule)
	r := rbacv1.PolicyRule{Verbs: words[:len(words)-1]}
	for _, word := range strings.Split(words[len(words)-1], ",") {
		resource, group, _ := strings.Cut(word, ".")
		r.Resources, r.APIGroups = append(r.Resources, resource), append(r.APIGroups, group)
	}
	return r
}

// ask is the permission to ask for anything across a subtree.
const ask = "list watch *.resources.hnc.x-k8s.io"

// grant gives somebody permissions in a namespace and nowhere else: its role is not copied down the tree. It returns
// what takes them away.
func (u user) grant(t *testing.T, ns string, rules ...string) (revoke func()) {
	t.Helper()
	return u.grantOne(t, ns, "", rules...)
}

// grantOne does so for the objects of one name, if there is a name.
func (u user) grantOne(t *testing.T, ns, name string, rules ...string) (revoke func()) {
	t.Helper()
	only := metav1.ObjectMeta{GenerateName: u.Name + "-", Annotations: map[string]string{hnc.AnnotationNone: "true"}}
	role := &rbacv1.Role{ObjectMeta: only}
	for _, rule := range rules {
		role.Rules = append(role.Rules, may(rule))
	}
	for i := range role.Rules {
		if name != "" {
			role.Rules[i].ResourceNames = []string{name}
		}
	}
	role, err := admin.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{})
	must(t, "role", err)
	binding := &rbacv1.RoleBinding{
		ObjectMeta: only, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: u.home, Name: u.Name}},
	}
	binding, err = admin.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, "binding", err)
	return func() {
		t.Helper()
		must(t, "revoke", admin.RbacV1().RoleBindings(ns).Delete(t.Context(), binding.Name, metav1.DeleteOptions{}))
	}
}

// grantAll gives somebody permissions in the whole cluster.
func (u user) grantAll(t *testing.T, rules ...string) (revoke func()) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-" + u.Name}}
	for _, rule := range rules {
		role.Rules = append(role.Rules, may(rule))
	}
	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	must(t, "cluster role", err)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: u.home, Name: u.Name}},
	}
	_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, "cluster role binding", err)
	return func() {
		t.Helper()
		must(t, "revoke", admin.RbacV1().ClusterRoleBindings().Delete(t.Context(), binding.Name, metav1.DeleteOptions{}))
	}
}

// names returns what a list holds, as "namespace/name" in the list's order.
func names(items []unstructured.Unstructured) string {
	var words []string
	for _, item := range items {
		words = append(words, item.GetNamespace()+"/"+item.GetName())
	}
	return strings.Join(words, " ")
}

// listed returns what somebody's list holds, or the error.
func (u user) listed(t *testing.T, resource, ns string, options metav1.ListOptions) string {
	t.Helper()
	list, err := u.Dynamic.Resource(ours(resource)).Namespace(ns).List(t.Context(), options)
	if err != nil {
		return err.Error()
	}
	return names(list.Items)
}

// warnings collects the warnings that somebody gets.
type warnings struct {
	mu   sync.Mutex
	text []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

// warned returns the same user, and the warnings that they get from now on.
func (u user) warned(t *testing.T) (user, *warnings) {
	t.Helper()
	w := &warnings{}
	config := rest.CopyConfig(u.Config)
	config.WarningHandler = w
	same, err := clients(u.Name, config)
	must(t, "clients", err)
	same.kubeconfig, same.home = u.kubeconfig, u.home
	return same, w
}
