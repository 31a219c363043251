package reads

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func worldNamespaces() int { return suite.Size(80, 500) }
func worldUsers() int      { return suite.Size(25, 200) }
func worldBindings() int   { return suite.Size(80, 400) }

const worldGroups = 20

// world is a forest of namespaces with random bindings of random people.
type world struct {
	random     *rand.Rand
	namespaces []string
	people     []person
	bindings   []*rbacv1.RoleBinding
	made       int
}

// person is a user with his groups, and a client that acts for him.
type person struct {
	name   string
	groups []string
	hnc    versioned.Interface
}

func some[T any](random *rand.Rand, all []T) T { return all[random.IntN(len(all))] }

// parallel calls f for each number below n, some at a time.
func parallel(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	numbers := make(chan int)
	var workers sync.WaitGroup
	errs := make([]error, n)
	for range 8 {
		workers.Go(func() {
			for i := range numbers {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err) // one of them is enough
		}
	}
}

func newWorld(t *testing.T, random *rand.Rand) *world {
	t.Helper()
	w := &world{random: random}
	for i := range worldNamespaces() {
		w.namespaces = append(w.namespaces, fmt.Sprintf("w%03d", i))
	}
	for i := range worldUsers() {
		p := person{name: fmt.Sprintf("u%03d", i)}
		for range random.IntN(3) {
			p.groups = append(p.groups, w.group())
		}
		if i%10 == 0 {
			ns := some(random, w.namespaces)
			p = person{name: "system:serviceaccount:" + ns + ":robot", groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + ns}}
		}
		p.groups = append(p.groups, "system:authenticated")
		config := rest.CopyConfig(root.Config)
		config.Impersonate = rest.ImpersonationConfig{UserName: p.name, Groups: p.groups}
		var err error
		if p.hnc, err = versioned.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		w.people = append(w.people, p)
	}
	for _, name := range worldRoles {
		if _, err := root.RbacV1().ClusterRoles().Create(t.Context(), w.clusterRole(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	parents := make([]string, worldNamespaces())
	for i := 1; i < worldNamespaces(); i++ {
		if random.IntN(10) < 7 {
			parents[i] = w.namespaces[max(0, i-60)+random.IntN(min(i, 60))]
		}
	}
	parallel(t, worldNamespaces(), func(i int) error {
		_, err := root.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespaces[i]}}, metav1.CreateOptions{})
		return err
	})
	parallel(t, worldNamespaces(), func(i int) error { return w.move(t, w.namespaces[i], parents[i]) })
	for i, ns := range w.namespaces {
		if i%15 == 0 {
			local := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "local-" + ns}, Rules: w.rules()}
			if _, err := root.RbacV1().Roles(ns).Create(t.Context(), local, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range worldBindings() {
		w.bindings = append(w.bindings, w.binding(some(random, w.namespaces)))
	}
	parallel(t, worldBindings(), func(i int) error {
		_, err := root.RbacV1().RoleBindings(w.bindings[i].Namespace).Create(t.Context(), w.bindings[i], metav1.CreateOptions{})
		return err
	})
	for i, role := range []string{"w-named", "w-named", "w-part", "view", "w-list"} {
		wide := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("wide-%d", i)}, RoleRef: clusterRole(role), Subjects: []rbacv1.Subject{w.subject()}}
		if _, err := root.RbacV1().ClusterRoleBindings().Create(t.Context(), wide, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// worldRoles are ClusterRoles of this world. w-missing is bound, and does not exist.
var worldRoles = []string{"w-get", "w-list", "w-star", "w-named", "w-part", "w-all"}

func clusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

func (w *world) clusterRole(name string) *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	rule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}}
	switch name {
	case "w-list":
		rule.Verbs = []string{"list", "watch"}
	case "w-star":
		rule = rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	case "w-named":
		for range 20 {
			rule.ResourceNames = append(rule.ResourceNames, some(w.random, w.namespaces))
		}
	case "w-part":
		role.Labels = map[string]string{"w": "part"}
	case "w-all":
		role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"w": "part"}}}}
		return role
	}
	role.Rules = []rbacv1.PolicyRule{rule}
	return role
}

// rules are those of a role that may or may not let its holder see namespaces.
func (w *world) rules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{some(w.random, []string{"namespaces", "pods", "*", "namespaces/status"})}, Verbs: []string{some(w.random, []string{"get", "list", "*"})}},
	}
}

func (w *world) group() string { return fmt.Sprintf("g%02d", w.random.IntN(worldGroups)) }

func (w *world) subject() rbacv1.Subject {
	switch w.random.IntN(4) {
	case 0:
		return rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: w.group()}
	case 1:
		return rbacv1.Subject{Kind: "ServiceAccount", Namespace: some(w.random, w.namespaces), Name: "robot"}
	}
	return rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: some(w.random, w.people).name}
}

// binding returns a new binding in a namespace.
func (w *world) binding(ns string) *rbacv1.RoleBinding {
	w.made++
	b := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("b%d", w.made)},
		RoleRef:    clusterRole(some(w.random, append([]string{"view", "edit", "admin", "w-missing"}, worldRoles...))),
	}
	if w.random.IntN(5) == 0 {
		b.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "local-" + ns}
	}
	for range 1 + w.random.IntN(3) {
		b.Subjects = append(b.Subjects, w.subject())
	}
	return b
}

// move gives a namespace a parent.
func (w *world) move(t *testing.T, ns, parent string) error {
	t.Helper()
	patch := fmt.Sprintf(`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":%q}}`, parent)
	force := true
	_, err := root.HNC.HncV1beta1().Hierarchies(ns).Patch(t.Context(), hnc.Singleton, types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "test", Force: &force})
	return err
}
