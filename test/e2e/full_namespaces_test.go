package e2e

import (
	"context"
	"fmt"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// depth returns the label that shows how far below ancestor a namespace is, empty if it isn't.
func depth(ns, ancestor string) string {
	ginkgo.GinkgoHelper()
	return root.get("", "ns/"+ns, `{.metadata.labels.`+ancestor+`\.tree\.hnc\.x-k8s\.io/depth}`)
}

// expectDepth waits until ns is depth below ancestor; empty means not at all.
func expectDepth(ns, ancestor, want string) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func() string { return depth(ns, ancestor) }).Should(gomega.Equal(want), "depth of %s below %s", ns, ancestor)
}

// expectCopy waits until an object is in the namespace as a copy from source.
func expectCopy(ns, object, source string) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func() result {
		return root.kubectl("get", "-n", ns, object, "-o", `jsonpath={.metadata.labels.hnc\.x-k8s\.io/inherited-from}`)
	}).Should(output(gomega.Equal(source)), "copy in %s", ns)
}

// expectNoCopy waits until an object is not in the namespace.
func expectNoCopy(ns, object string) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func() result { return root.kubectl("get", "-n", ns, object) }).Should(beRefused("NotFound"), "copy in %s", ns)
}

// allowConfigMaps grants reading config maps in the namespace: a role and a binding of that name.
func allowConfigMaps(ns, name string) {
	ginkgo.GinkgoHelper()
	gomega.Expect(root.kubectl("create", "role", name, "-n", ns, "--verb=get", "--resource=configmaps")).To(succeed())
	gomega.Expect(root.kubectl("create", "rolebinding", name, "-n", ns, "--role="+name, "--user=jane")).To(succeed())
}

var _ = ginkgo.Describe("A full namespace", func() {
	ginkgo.It("joins a tree, moves with all that is below it, and leaves, by its hierarchy", func(ctx context.Context) {
		ns := newNamespaces("first", "second", "moved", "below")
		first, second, moved, below := ns[0], ns[1], ns[2], ns[3]
		allowConfigMaps(first, "of-first")
		allowConfigMaps(second, "of-second")
		u := newUser(ctx)
		u.grant(ctx, "admin", ns...)

		gomega.Expect(u.apply(hierarchy(moved, first))).To(succeed())
		gomega.Expect(u.apply(hierarchyConfiguration(below, moved))).To(succeed())
		for i, each := range []string{moved, below} {
			expectDepth(each, first, fmt.Sprint(i+1))
			expectCopy(each, "role/of-first", first)
			expectCopy(each, "rolebinding/of-first", first)
			gomega.Expect(root.kubectl("auth", "can-i", "get", "configmaps", "-n", each, "--as=jane")).To(succeed())
		}

		gomega.Expect(u.patch(moved, theHierarchy, parentIs(second))).To(succeed())
		for i, each := range []string{moved, below} {
			expectDepth(each, second, fmt.Sprint(i+1))
			expectDepth(each, first, "")
			expectCopy(each, "rolebinding/of-second", second)
			expectNoCopy(each, "role/of-first")
			expectNoCopy(each, "rolebinding/of-first")
		}

		gomega.Expect(u.patch(moved, "hierarchyconfigurations/hierarchy", parentIs(""))).To(succeed())
		for _, each := range []string{moved, below} {
			expectDepth(each, second, "")
			expectNoCopy(each, "rolebinding/of-second")
		}
		expectDepth(below, moved, "1")
	})

	ginkgo.It("becomes a root when its hierarchy is deleted", func(ctx context.Context) {
		ns := newChain("root", "leaf")
		u := newUser(ctx)
		u.grant(ctx, "admin", ns...)
		expectDepth(ns[1], ns[0], "1")
		gomega.Expect(u.kubectl("delete", theHierarchy, "-n", ns[1])).To(succeed())
		expectDepth(ns[1], ns[0], "")
	})

	ginkgo.It("has its parent and children in kubectl get, under both names", func() {
		ns := newChain("root", "middle", "leaf")
		for _, resource := range []string{"hierarchies.hnc.x-k8s.io", "hierarchyconfigurations.hnc.x-k8s.io"} {
			gomega.Eventually(func() result { return root.kubectl("get", resource, "-A") }).Should(output(gomega.And(
				gomega.MatchRegexp(ns[0]+` +hierarchy +1 `),
				gomega.MatchRegexp(ns[1]+` +hierarchy +`+ns[0]+` +1 `),
				gomega.MatchRegexp(ns[2]+` +hierarchy +`+ns[1]+` +0 `))))
		}
		gomega.Eventually(func() result { return root.kubectl("get", "hierarchies", "-n", ns[0], "-o", "wide") }).
			Should(output(gomega.MatchRegexp(`Ready=True \(Ready\) +` + ns[1] + ` `)))
	})
})

// conditions is a JSON path that prints an object's conditions.
const conditions = `{range .status.conditions[*]}{.type}={.status}:{.reason} {end}`

var _ = ginkgo.Describe("What a tree inherits", func() {
	ginkgo.It("follows when its source is changed, replaced by another of its name, or deleted", func() {
		ns := newChain("root", "middle", "leaf")
		allowConfigMaps(ns[0], "reader")
		for _, each := range ns[1:] {
			expectCopy(each, "rolebinding/reader", ns[0])
		}
		gomega.Expect(root.patch(ns[0], "role/reader", `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`)).To(succeed())
		gomega.Expect(root.kubectl("label", "rolebinding/reader", "-n", ns[0], "team=blue")).To(succeed())
		for _, each := range ns[1:] {
			gomega.Eventually(func() string { return root.get(each, "role/reader", "{.rules[*].resources[*]}") }).Should(gomega.Equal("pods"))
			gomega.Eventually(func() string { return root.get(each, "rolebinding/reader", "{.metadata.labels.team}") }).Should(gomega.Equal("blue"))
		}
		// A binding's role can't be changed, so the copies have to be replaced too.
		gomega.Expect(root.kubectl("delete", "rolebinding/reader", "-n", ns[0])).To(succeed())
		gomega.Expect(root.kubectl("create", "rolebinding", "reader", "-n", ns[0], "--clusterrole=view", "--user=jane")).To(succeed())
		for _, each := range ns[1:] {
			gomega.Eventually(func() result {
				return root.kubectl("get", "rolebinding/reader", "-n", each, "-o", "jsonpath={.roleRef.name}")
			}).Should(output(gomega.Equal("view")))
		}
		gomega.Expect(root.kubectl("delete", "role/reader", "rolebinding/reader", "-n", ns[0])).To(succeed())
		for _, each := range ns[1:] {
			expectNoCopy(each, "role/reader")
			expectNoCopy(each, "rolebinding/reader")
		}
	})

	ginkgo.It("can't be edited, deleted or forged below its source, even by an administrator there (O12, O14, O17)", func(ctx context.Context) {
		ns := newChain("root", "leaf")
		source, leaf := ns[0], ns[1]
		u := newUser(ctx)
		u.grant(ctx, "admin", leaf)
		allowConfigMaps(source, "reader")
		expectCopy(leaf, "rolebinding/reader", source)
		there := "change it there, in namespace " + source

		gomega.Expect(u.patch(leaf, "rolebinding/reader", `{"subjects":[]}`)).To(beRefused("Forbidden", "RoleBinding "+leaf+"/reader", there))
		gomega.Expect(u.kubectl("label", "-n", leaf, "role/reader", "team=blue")).To(beRefused("Forbidden", "Role "+leaf+"/reader", there))
		gomega.Expect(u.kubectl("annotate", "-n", leaf, "role/reader", "a=b")).To(beRefused("Forbidden", there))
		gomega.Expect(u.kubectl("label", "-n", leaf, "role/reader", "hnc.x-k8s.io/inherited-from-")).
			To(beRefused("Forbidden", "hnc.x-k8s.io/inherited-from", source))
		gomega.Expect(u.kubectl("delete", "-n", leaf, "role/reader")).To(beRefused("Forbidden", "delete it there, in namespace "+source))
		gomega.Expect(u.create(labelled(configMap(leaf, "forged"), "hnc.x-k8s.io/inherited-from", source))).
			To(beRefused("Forbidden", "leave out its label hnc.x-k8s.io/inherited-from"))
		gomega.Expect(operator.kubectl("label", "ns", leaf, "x.tree.hnc.x-k8s.io/depth=1")).
			To(beRefused("Forbidden", "x.tree.hnc.x-k8s.io/depth", "spec.parent"))
		gomega.Expect(u.kubectl("get", "rolebinding/reader", "-n", leaf)).To(succeed())
	})
})

var _ = ginkgo.Describe("A sub-namespace", func() {
	var parent, other, sub string
	ginkgo.BeforeEach(func() {
		ns := newNamespaces("parent", "other")
		parent, other, sub = ns[0], ns[1], name("sub")
	})

	ginkgo.It("can be made and filled by a single kubectl apply, by an administrator of the parent", func(ctx context.Context) {
		u := newUser(ctx)
		u.grant(ctx, "admin", parent)
		below := name("below")
		gomega.Expect(u.apply(join(
			subnamespace(parent, sub), configMap(sub, "first"), subnamespace(sub, below), configMap(below, "second"),
		))).To(succeed())
	})

	ginkgo.It("becomes a full namespace, which can move, when its annotation is removed (CASE-3)", func(ctx context.Context) {
		u := newUser(ctx)
		u.grant(ctx, "admin", parent, other)
		gomega.Expect(u.create(subnamespace(parent, sub))).To(succeed())
		gomega.Expect(operator.kubectl("annotate", "ns", sub, "hnc.x-k8s.io/subnamespace-of-")).To(succeed())
		expectDepth(sub, parent, "1")
		gomega.Eventually(func() result { return u.kubectl("get", "subns", sub, "-n", parent) }).
			Should(output(gomega.MatchRegexp(sub + ` +Conflict +False`)))
		gomega.Expect(u.patch(sub, theHierarchy, parentIs(other))).To(succeed())
		expectDepth(sub, other, "1")
		gomega.Expect(u.kubectl("delete", "subns", sub, "-n", parent)).To(succeed())
		expectActive(sub)
		gomega.Expect(depth(sub, other)).To(gomega.Equal("1"))
	})

	ginkgo.It("whose record is missing says so, until it gets one (COND-SubnamespaceAnchorMissing)", func() {
		gomega.Expect(root.create(namespace(sub) + "  annotations: {hnc.x-k8s.io/subnamespace-of: " + parent + "}\n")).To(succeed())
		gomega.Eventually(func() result { return root.kubectl("get", "-n", sub, theHierarchy, "-o", "jsonpath="+conditions) }).Should(output(gomega.And(
			gomega.ContainSubstring("BadConfiguration=True:SubnamespaceAnchorMissing"), gomega.ContainSubstring("Ready=False"))))
		gomega.Expect(operator.kubectl("delete", "ns", sub, "--dry-run=server")).To(succeed())
		gomega.Expect(root.create(subnamespace(parent, sub))).To(succeed())
		expectDepth(sub, parent, "1")
		gomega.Eventually(func() string { return root.get(sub, theHierarchy, conditions) }).Should(gomega.Equal("Ready=True:Ready "))
		gomega.Eventually(func() result { return operator.kubectl("delete", "ns", sub, "--dry-run=server") }).Should(beRefused("Forbidden", parent))
	})
})
