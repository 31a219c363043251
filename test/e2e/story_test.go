package e2e

import (
	"context"
	"fmt"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// The story that everything is for. The specs build on each other.
var _ = ginkgo.Describe("A team that divides its namespace", ginkgo.Ordered, func() {
	const copiesFromParent = "hnc.x-k8s.io/inherited-from=parent"
	tree := []string{"parent", "child", "grandchild"}
	var parentAccount, childAccount user

	ginkgo.BeforeAll(func() {
		gomega.Expect(root.kubectl("create", "ns", "parent")).To(succeed())
		gomega.Expect(root.kubectl("create", "ns", "sibling")).To(succeed())
	})

	ginkgo.It("makes a sub-namespace with kubectl apply", func() {
		gomega.Expect(root.apply(subnamespace("parent", "child"))).To(succeed())
	})

	ginkgo.It("makes a sub-namespace of the sub-namespace, as HNC spells it", func() {
		gomega.Expect(root.apply(anchor("child", "grandchild"))).To(succeed())
	})

	ginkgo.It("sees the namespaces with the labels and annotations of their positions in the tree", func() {
		gomega.Expect(root.kubectl("get", "ns", "-o", "name", "-l", "parent.tree.hnc.x-k8s.io/depth")).
			To(list("namespace/parent", "namespace/child", "namespace/grandchild"))
		for depth, ns := range tree {
			gomega.Expect(root.get("", "ns/"+ns, `{.metadata.labels.parent\.tree\.hnc\.x-k8s\.io/depth}`)).To(gomega.Equal(fmt.Sprint(depth)))
			gomega.Expect(root.get("", "ns/"+ns, `{.metadata.labels.hnc\.x-k8s\.io/included-namespace}`)).To(gomega.Equal("true"))
		}
		const subnamespaceOf = `{.metadata.annotations.hnc\.x-k8s\.io/subnamespace-of}`
		gomega.Expect(root.get("", "ns/parent", subnamespaceOf)).To(gomega.BeEmpty())
		gomega.Expect(root.get("", "ns/child", subnamespaceOf)).To(gomega.Equal("parent"))
		gomega.Expect(root.get("", "ns/grandchild", subnamespaceOf)).To(gomega.Equal("child"))
	})

	ginkgo.It("lists the sub-namespaces with kubectl get subns", func() {
		gomega.Expect(root.kubectl("get", "subns", "-A")).To(output(gomega.And(
			gomega.MatchRegexp(`NAMESPACE +NAME +STATE +READY +AGE`),
			gomega.MatchRegexp(`parent +child +Ok +True`),
			gomega.MatchRegexp(`child +grandchild +Ok +True`))))
	})

	ginkgo.It("sees the tree with kubectl get hierarchies", func() {
		gomega.Eventually(func() result { return root.kubectl("get", "hierarchies.hnc.x-k8s.io", "-A") }).Should(output(gomega.And(
			gomega.MatchRegexp(`NAMESPACE +NAME +PARENT +CHILDREN`),
			gomega.MatchRegexp(`parent +hierarchy +1 `),
			gomega.MatchRegexp(`child +hierarchy +parent +1 `),
			gomega.MatchRegexp(`grandchild +hierarchy +child +0 `))))
		gomega.Eventually(func() result { return root.kubectl("get", "hierarchies", "-n", "child", "-o", "wide") }).Should(output(gomega.And(
			gomega.MatchRegexp(`CONDITIONS +CHILD NAMES`),
			gomega.MatchRegexp(`Ready=True \(Ready\) +grandchild`))))
	})

	ginkgo.It("finds what is granted in the parent in the whole tree, and nowhere else", func() {
		gomega.Expect(root.kubectl("apply", "-k", testdata("parent"))).To(succeed())
		for _, kind := range []string{"roles", "rolebindings"} {
			for _, ns := range tree[1:] {
				gomega.Eventually(func() result {
					return root.kubectl("get", kind, "-n", ns, "-l", copiesFromParent, "-o", "name")
				}).Should(output(gomega.HaveSuffix("/subnamespace-admin\n")))
			}
			gomega.Expect(root.kubectl("get", kind, "-n", "sibling", "-o", "name")).To(list())
			gomega.Expect(root.kubectl("get", kind, "-n", "parent", "-l", "hnc.x-k8s.io/inherited-from", "-o", "name")).To(list())
		}
	})

	ginkgo.It("doesn't find what is granted in a namespace beside it", func() {
		gomega.Expect(root.kubectl("apply", "-k", testdata("sibling"))).To(succeed())
		// What is granted in the parent afterwards has come all the way, so the other would have, too.
		gomega.Expect(root.kubectl("create", "rolebinding", "afterwards", "-n", "parent", "--role=subnamespace-admin", "--user=nobody")).To(succeed())
		gomega.Eventually(func() result { return root.kubectl("get", "rolebinding/afterwards", "-n", "grandchild") }).Should(succeed())
		for _, ns := range tree {
			gomega.Expect(root.kubectl("get", "roles,rolebindings", "-n", ns, "-o", "name")).
				To(output(gomega.Not(gomega.ContainSubstring("sibling"))))
		}
	})

	ginkgo.It("uses what is granted to the parent's ServiceAccount in the whole tree", func(ctx context.Context) {
		parentAccount = serviceAccount(ctx, "parent", "default")
		for _, ns := range tree {
			parentAccount.waitUntilMay(ctx, "list", "subnamespaces", ns)
			gomega.Expect(parentAccount.kubectl("get", "subns", "-n", ns)).To(succeed())
		}
	})

	ginkgo.It("can use a new sub-namespace as soon as its creation returns", func() {
		gomega.Expect(parentAccount.apply(subnamespace("parent", "child2"))).To(succeed())
		gomega.Expect(parentAccount.apply(subnamespace("child2", "grandchild2"))).To(succeed())
		above := "grandchild2"
		for i := range 5 {
			below := fmt.Sprintf("descendant-%d", i)
			create := subnamespace(above, below)
			if i%2 == 1 {
				create = anchor(above, below)
			}
			gomega.Expect(parentAccount.create(create)).To(succeed())
			above = below
		}
		gomega.Expect(root.kubectl("get", "rolebindings", "-n", above, "-o", "name", "-l", copiesFromParent)).
			To(output(gomega.ContainSubstring("/subnamespace-admin")))
		gomega.Expect(root.get("", "ns/"+above, `{.metadata.labels.parent\.tree\.hnc\.x-k8s\.io/depth}`)).To(gomega.Equal("7"))
	})

	ginkgo.It("gives no other permission to the parent's ServiceAccount", func() {
		for _, ns := range append(tree, "child2", "grandchild2") {
			gomega.Expect(parentAccount.kubectl("get", "pods", "-n", ns)).To(beRefused("Forbidden", "parent:default", `"pods"`))
		}
		gomega.Expect(parentAccount.kubectl("create", "ns", "mine")).To(beRefused("Forbidden", `"namespaces"`))
		gomega.Expect(parentAccount.create(subnamespace("default", "mine"))).To(beRefused("Forbidden", `"subnamespaces"`, `"default"`))
		gomega.Expect(parentAccount.create(anchor("sibling", "mine"))).To(beRefused("Forbidden", `"subnamespaceanchors"`, `"sibling"`))
		gomega.Expect(parentAccount.create(hierarchy("grandchild2", "parent"))).To(beRefused("Forbidden", `"hierarchies"`))
	})

	ginkgo.It("lets the child's ServiceAccount do below the child what it may do in the child, and nothing above", func(ctx context.Context) {
		gomega.Expect(root.kubectl("apply", "-k", testdata("child"))).To(succeed())
		childAccount = serviceAccount(ctx, "child", "default")
		for _, ns := range tree[1:] {
			childAccount.waitUntilMay(ctx, "create", "subnamespaces", ns)
		}
		gomega.Expect(childAccount.create(subnamespace("child", "grandchild3"))).To(succeed())
		gomega.Expect(childAccount.create(subnamespace("grandchild3", "greatgrandchild3"))).To(succeed())
		gomega.Expect(childAccount.create(subnamespace("greatgrandchild3", "greatgreatgrandchild3"))).To(succeed())
		gomega.Expect(childAccount.kubectl("get", "subns", "-n", "grandchild")).To(succeed())
		for _, ns := range []string{"parent", "child2", "sibling"} {
			gomega.Expect(childAccount.kubectl("get", "subns", "-n", ns)).To(beRefused("Forbidden", "child:default"))
			gomega.Expect(childAccount.create(subnamespace(ns, "mine"))).To(beRefused("Forbidden", "child:default"))
		}
	})
})
