package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// people is the namespace of the users' ServiceAccounts. It is part of no tree.
const people = "people"

var fresh atomic.Int64

// name returns a name that begins with base and that nobody else uses.
func name(base string) string { return fmt.Sprintf("%s-%d", base, fresh.Add(1)) }

// newUser makes a user without any permissions but those of every user.
func newUser(ctx context.Context) user {
	ginkgo.GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: people, Name: name("user")}}
	_, err := kube.CoreV1().ServiceAccounts(people).Create(ctx, account, metav1.CreateOptions{})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return serviceAccount(ctx, people, account.Name)
}

// serviceAccount returns the user that a ServiceAccount is, once it exists.
func serviceAccount(ctx context.Context, ns, account string) user {
	ginkgo.GinkgoHelper()
	u := user{name: "system:serviceaccount:" + ns + ":" + account}
	gomega.Eventually(func() (err error) {
		_, u.kubeconfig, err = cp.ServiceAccount(ctx, ns, account)
		return err
	}).Should(gomega.Succeed())
	return u
}

// account returns the name of the user's ServiceAccount.
func (u user) account() string { return u.name[strings.LastIndex(u.name, ":")+1:] }

// grant gives the user a built-in ClusterRole in namespaces, and returns when it has effect there.
func (u user) grant(ctx context.Context, role string, namespaces ...string) {
	ginkgo.GinkgoHelper()
	verb, resource := "get", "hierarchies"
	switch role {
	case "admin":
		verb = "update"
	case "edit":
		verb, resource = "create", "subnamespaces"
	}
	for _, ns := range namespaces {
		u.bind(ctx, ns, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role})
	}
	for _, ns := range namespaces {
		u.waitUntilMay(ctx, verb, resource, ns)
	}
}

// bind binds the user to a role in the namespace.
func (u user) bind(ctx context.Context, ns string, role rbacv1.RoleRef) {
	ginkgo.GinkgoHelper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name("binding")},
		RoleRef:    role,
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.name}},
	}
	_, err := kube.RbacV1().RoleBindings(ns).Create(ctx, binding, metav1.CreateOptions{})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
}

// waitUntilMay returns when the user has a permission on resources of our group in the namespace: kube-apiserver learns
// of a new binding a moment after it is written.
func (u user) waitUntilMay(ctx context.Context, verb, resource, ns string) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func() (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: u.name,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: ns, Verb: verb, Group: "hnc.x-k8s.io", Resource: resource,
			},
		}}
		review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed, err
	}).Should(gomega.BeTrue(), "%s may %s %s in %s", u.name, verb, resource, ns)
}

// newNamespaces makes a full namespace for each base and returns their names.
func newNamespaces(bases ...string) []string {
	ginkgo.GinkgoHelper()
	names := make([]string, len(bases))
	for i, base := range bases {
		names[i] = name(base)
		_, err := kube.CoreV1().Namespaces().Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: names[i]}}, metav1.CreateOptions{})
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
	}
	return names
}

// newNamespace makes a full namespace and returns its name.
func newNamespace(base string) string {
	ginkgo.GinkgoHelper()
	return newNamespaces(base)[0]
}

// newChain makes full namespaces, each the parent of the next, and returns their names, the root first.
func newChain(bases ...string) []string {
	ginkgo.GinkgoHelper()
	names := newNamespaces(bases...)
	for i, parent := range names[:len(names)-1] {
		h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
		_, err := hierarchies.HncV1beta1().Hierarchies(names[i+1]).Create(context.Background(), h, metav1.CreateOptions{})
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
	}
	return names
}

// waitForHierarchy returns when the namespace has a hierarchy. A root gets one some time after its first child.
func waitForHierarchy(ns string) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func() result { return root.kubectl("get", "-n", ns, theHierarchy) }).Should(succeed())
}

// join makes one manifest of several.
func join(manifests ...string) string { return strings.Join(manifests, "---\n") }

func manifest(apiVersion, kind, ns, name string) string {
	m := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", apiVersion, kind, name)
	if ns != "" {
		m += "  namespace: " + ns + "\n"
	}
	return m
}

func namespace(name string) string { return manifest("v1", "Namespace", "", name) }

func configMap(ns, name string) string { return manifest("v1", "ConfigMap", ns, name) }

// labelled adds a label to a manifest that ends with its metadata.
func labelled(manifest, key, value string) string {
	return manifest + fmt.Sprintf("  labels:\n    %s: %q\n", key, value)
}

func subnamespace(parent, name string) string {
	return manifest("hnc.x-k8s.io/v1beta1", "Subnamespace", parent, name)
}

// anchor is a sub-namespace as HNC spells it.
func anchor(parent, name string) string {
	return manifest("hnc.x-k8s.io/v1alpha2", "SubnamespaceAnchor", parent, name)
}

func hierarchy(ns, parent string) string {
	return manifest("hnc.x-k8s.io/v1beta1", "Hierarchy", ns, "hierarchy") + "spec:\n  parent: " + parent + "\n"
}

// hierarchyConfiguration is a hierarchy as HNC spells it.
func hierarchyConfiguration(ns, parent string) string {
	return manifest("hnc.x-k8s.io/v1alpha2", "HierarchyConfiguration", ns, "hierarchy") + "spec:\n  parent: " + parent + "\n"
}

// parentIs is a patch of a hierarchy; the empty parent makes a root.
func parentIs(parent string) string { return fmt.Sprintf(`{"spec":{"parent":%q}}`, parent) }

// theHierarchy is what kubectl calls the one hierarchy of a namespace.
const theHierarchy = "hierarchies/hierarchy"
