package e2e

import (
	"context"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = ginkgo.Describe("A user whom Kubernetes' own roles are bound to in a namespace", func() {
	var u user
	var parent, sub string
	ginkgo.BeforeEach(func(ctx context.Context) {
		u = newUser(ctx)
		parent, sub = newNamespace("parent"), name("sub")
		gomega.Expect(root.create(subnamespace(parent, sub))).To(succeed())
		waitForHierarchy(parent)
	})
	objects := func() []string {
		return []string{theHierarchy, "hierarchyconfigurations/hierarchy", "subnamespaces/" + sub, "subnamespaceanchors/" + sub}
	}
	expectReads := func() {
		ginkgo.GinkgoHelper()
		for _, object := range objects() {
			gomega.Expect(u.kubectl("get", "-n", parent, object)).To(succeed())
		}
	}
	// Statuses report what the propagator has done, so nobody else writes them.
	expectNoStatus := func() {
		ginkgo.GinkgoHelper()
		for _, object := range objects() {
			gomega.Expect(u.kubectl("get", "-n", parent, object, "--subresource=status")).To(succeed())
			gomega.Expect(u.patch(parent, object, `{"status":{"conditions":[]}}`, "--subresource=status")).
				To(beRefused("Forbidden", u.name, `/status"`, parent))
		}
	}
	expectAnnotate := func(object string, matcher types.GomegaMatcher) {
		ginkgo.GinkgoHelper()
		gomega.Expect(u.kubectl("annotate", "-n", parent, object, "--overwrite", "example.com/by=somebody")).To(matcher, object)
	}
	refused := beRefused("Forbidden", "cannot")

	ginkgo.It("may only look with view", func(ctx context.Context) {
		u.grant(ctx, "view", parent)
		expectReads()
		expectNoStatus()
		for _, object := range objects() {
			expectAnnotate(object, refused)
			gomega.Expect(u.kubectl("delete", "-n", parent, object)).To(refused)
		}
		gomega.Expect(u.create(subnamespace(parent, name("sub")))).To(refused)
		gomega.Expect(u.create(anchor(parent, name("sub")))).To(refused)
		gomega.Expect(u.create(hierarchy(parent, "default"))).To(refused)
	})

	ginkgo.It("may divide the namespace with edit, and not move it", func(ctx context.Context) {
		u.grant(ctx, "edit", parent)
		expectReads()
		expectNoStatus()
		for i, object := range objects() {
			if i < 2 {
				expectAnnotate(object, refused)
				gomega.Expect(u.kubectl("delete", "-n", parent, object)).To(refused)
			} else {
				expectAnnotate(object, succeed())
			}
		}
		gomega.Expect(u.create(hierarchyConfiguration(parent, "default"))).To(refused)
		for _, create := range []string{subnamespace(parent, name("sub")), anchor(parent, name("sub"))} {
			gomega.Expect(u.create(create)).To(succeed())
		}
		gomega.Expect(u.kubectl("delete", "-n", parent, "subns", sub, "--wait=false")).To(succeed())
	})

	ginkgo.It("may do both with admin", func(ctx context.Context) {
		other := newNamespace("other")
		u.grant(ctx, "admin", parent, other)
		expectReads()
		expectNoStatus()
		for _, object := range objects() {
			expectAnnotate(object, succeed())
		}
		gomega.Expect(u.patch(parent, theHierarchy, parentIs(other))).To(succeed())
		below := name("below")
		gomega.Expect(u.create(subnamespace(sub, below))).To(succeed(), "the permissions are inherited")
		expectDepth(below, other, "3")
	})
})

var _ = ginkgo.Describe("A user who may only make sub-namespaces", func() {
	ginkgo.It("makes them, under the names of the resource that were granted, and does nothing else", func(ctx context.Context) {
		u, parent := newUser(ctx), newNamespace("parent")
		role := &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: "divider"},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"subnamespaces"}, Verbs: []string{"create", "get"}}},
		}
		_, err := kube.RbacV1().Roles(parent).Create(ctx, role, metav1.CreateOptions{})
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		u.bind(ctx, parent, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name})
		u.waitUntilMay(ctx, "create", "subnamespaces", parent)

		sub, below := name("sub"), name("below")
		gomega.Expect(u.create(subnamespace(parent, sub))).To(succeed())
		gomega.Expect(u.create(subnamespace(sub, below))).To(succeed())
		gomega.Expect(u.kubectl("get", "-n", sub, "subnamespaces/"+below)).To(succeed())

		refused := beRefused("Forbidden", u.name)
		gomega.Expect(u.create(anchor(parent, name("sub")))).To(refused)
		gomega.Expect(u.kubectl("get", "subnamespaces", "-n", parent)).To(refused)
		gomega.Expect(u.kubectl("delete", "-n", parent, "subnamespaces/"+sub)).To(refused)
		gomega.Expect(u.patch(parent, "subnamespaces/"+sub, `{"status":{"state":"Missing"}}`, "--subresource=status")).To(refused)
		gomega.Expect(u.kubectl("get", "-n", sub, theHierarchy)).To(refused)
		gomega.Expect(u.kubectl("get", "ns", sub)).To(refused)
		gomega.Expect(u.kubectl("get", "rolebindings", "-n", sub)).To(refused)
		gomega.Expect(u.create(configMap(sub, "mine"))).To(refused)
		gomega.Expect(u.create(subnamespace("default", name("sub")))).To(refused)
	})
})
