package e2e

import (
	"context"
	"os"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

var _ = ginkgo.Describe("A directory with a tree in it", func() {
	var dir, leaf, middle, top string
	ginkgo.BeforeEach(func() {
		dir = ginkgo.GinkgoT().TempDir()
		leaf, middle, top = name("leaf"), name("middle"), name("top")
		for file, manifest := range map[string]string{
			"1-leaf.yaml":   join(namespace(leaf), hierarchy(leaf, middle)),
			"2-middle.yaml": join(namespace(middle), hierarchyConfiguration(middle, top)),
			"3-top.yaml":    namespace(top),
		} {
			gomega.Expect(os.WriteFile(filepath.Join(dir, file), []byte(manifest), 0o600)).To(gomega.Succeed())
		}
	})

	ginkgo.It("is applied in any order by who may create namespaces", func(ctx context.Context) {
		u, role := newUser(ctx), name("tree-operator")
		gomega.Expect(root.kubectl("create", "clusterrole", role, "--verb=get,create,patch,update", "--resource=namespaces",
			"--resource=hierarchies.hnc.x-k8s.io", "--resource=hierarchyconfigurations.hnc.x-k8s.io")).To(succeed())
		gomega.Expect(root.kubectl("create", "clusterrolebinding", role, "--clusterrole="+role, "--serviceaccount="+people+":"+u.account())).To(succeed())
		u.waitUntilMay(ctx, "update", "hierarchies", "")

		gomega.Expect(u.kubectl("apply", "-f", dir)).To(succeed())
		expectDepth(leaf, top, "2")
		gomega.Eventually(func() string { return root.get("", "ns/"+leaf, `{.metadata.annotations.hnc\.x-k8s\.io/ancestry}`) }).
			Should(gomega.Equal(leaf + "." + middle + "." + top))
		gomega.Eventually(func() string { return root.get(leaf, theHierarchy, `{.status.conditions[?(@.type=="Ready")].status}`) }).Should(gomega.Equal("True"))
		gomega.Expect(u.kubectl("apply", "-f", dir)).To(output(gomega.MatchRegexp(`(?m)\A(.* unchanged\n)+\z`)))
	})

	ginkgo.It("is applied parents first by everybody else", func(ctx context.Context) {
		u := newUser(ctx)
		gomega.Expect(root.create(namespace(leaf))).To(succeed())
		u.grant(ctx, "admin", leaf)
		gomega.Expect(u.apply(hierarchy(leaf, middle))).To(beRefused("Forbidden", `"`+middle+`", which is the new parent`, u.name))
	})
})

var _ = ginkgo.Describe("A hierarchy that requires children", func() {
	ginkgo.It("has them, also after somebody has deleted one, until it doesn't require them", func(ctx context.Context) {
		u, parent := newUser(ctx), newNamespace("parent")
		one, two := name("one"), name("two")
		u.grant(ctx, "admin", parent)
		gomega.Expect(u.apply(hierarchy(parent, `""`) + "  requiredChildren: [" + one + ", " + two + "]\n")).To(succeed())
		for _, child := range []string{one, two} {
			gomega.Eventually(func() result {
				return u.kubectl("wait", "--for=condition=Ready", "subns/"+child, "-n", parent, "--timeout=1s")
			}).Should(succeed())
			gomega.Expect(u.kubectl("wait", "--for=condition=Required", "subns/"+child, "-n", parent, "--timeout=10s")).To(succeed())
		}

		uid := root.get("", "ns/"+one, "{.metadata.uid}")
		gomega.Expect(u.kubectl("delete", "subns", one, "-n", parent)).To(succeed())
		gomega.Eventually(func() result { return root.kubectl("get", "ns", one, "-o", "jsonpath={.metadata.uid}") }, goneDeadline).
			Should(output(gomega.Not(gomega.Equal(uid))))

		gomega.Expect(u.apply(hierarchy(parent, `""`) + "  requiredChildren: [" + one + "]\n")).To(succeed())
		gomega.Expect(u.kubectl("wait", "--for=condition=Required=false", "subns/"+two, "-n", parent, "--timeout=20s")).To(succeed())
		gomega.Expect(u.get(parent, "subns/"+two, `{.status.conditions[?(@.type=="Required")].message}`)).
			To(gomega.ContainSubstring("kubectl delete subns " + two + " -n " + parent))
		gomega.Expect(u.kubectl("delete", "subns", two, "-n", parent)).To(succeed())
		gomega.Expect(root.kubectl("get", "ns", two)).To(beRefused("NotFound"))
	})

	ginkgo.It("can only name what could be created there", func(ctx context.Context) {
		u := newUser(ctx)
		ns := newNamespaces("parent", "taken")
		u.grant(ctx, "admin", ns[0])
		requires := func(child string) string { return hierarchy(ns[0], `""`) + "  requiredChildren: [" + child + "]\n" }
		gomega.Expect(u.apply(requires(ns[1]))).To(beRefused("Conflict", "spec.requiredChildren[0]", `"`+ns[1]+`" exists already`))
		gomega.Expect(u.apply(requires("kube-public"))).To(beRefused("Forbidden", "spec.requiredChildren[0]", "choose another name"))
		gomega.Expect(u.apply(requires("Not_a_name"))).To(beRefused("Invalid", "spec.requiredChildren[0]", "must be the name of a namespace"))
	})
})

var _ = ginkgo.Describe("Where the configuration names a creator's role", func() {
	setRole := func(role string) {
		ginkgo.GinkgoHelper()
		gomega.Expect(root.kubectl("patch", "hncconfigurations/config", "--type=merge", "-p", `{"spec":{"creatorRole":"`+role+`"}}`)).To(succeed())
	}

	ginkgo.It("who makes a sub-namespace gets it there, and can hand it on", func(ctx context.Context) {
		u, parent := newUser(ctx), newNamespace("parent")
		u.grant(ctx, "edit", parent)
		gomega.Eventually(func() result { return root.kubectl("get", "hncconfigurations/config") }).Should(succeed())
		setRole("admin")
		ginkgo.DeferCleanup(func() { setRole("") })
		var sub string
		gomega.Eventually(func() result { // until the propagator has heard of the role
			sub = name("sub")
			gomega.Expect(u.create(subnamespace(parent, sub))).To(succeed())
			return root.kubectl("get", "rolebinding", "hns-creator-"+sub, "-n", sub)
		}).Should(succeed())
		u.waitUntilMay(ctx, "update", "hierarchies", sub)
		gomega.Expect(u.kubectl("create", "rolebinding", "jane", "--clusterrole=view", "--user=jane", "-n", sub)).To(succeed())
		gomega.Expect(u.kubectl("create", "rolebinding", "jane", "--clusterrole=view", "--user=jane", "-n", parent)).To(fail("rolebindings.rbac.authorization.k8s.io is forbidden"))
		gomega.Expect(u.get(parent, "subns/"+sub, `{.metadata.annotations.hnc\.x-k8s\.io/requester}`)).To(gomega.Equal(u.name))
	})

	ginkgo.It("only who may bind that role can name it", func(ctx context.Context) {
		u, role := newUser(ctx), name("configurator")
		gomega.Expect(root.kubectl("create", "clusterrole", role, "--verb=get,patch", "--resource=hncconfigurations.hnc.x-k8s.io")).To(succeed())
		gomega.Expect(root.kubectl("create", "clusterrolebinding", role, "--clusterrole="+role, "--serviceaccount="+people+":"+u.account())).To(succeed())
		u.waitUntilMay(ctx, "patch", "hncconfigurations", "")
		gomega.Expect(u.kubectl("patch", "hncconfigurations/config", "--type=merge", "-p", `{"spec":{"creatorRole":"cluster-admin"}}`)).
			To(beRefused("Forbidden", "spec.creatorRole", `"cluster-admin"`, "verb bind on clusterroles"))
	})
})
