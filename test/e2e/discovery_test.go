package e2e

import (
	"context"
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
)

var _ = ginkgo.Describe("kubectl", func() {
	ginkgo.It("discovers all resources, of all versions", func() {
		gomega.Expect(root.kubectl("api-resources", "--api-group=hnc.x-k8s.io", "--no-headers")).To(output(gomega.And(
			gomega.MatchRegexp(`hierarchies +hier +hnc.x-k8s.io/v1beta1 +true +Hierarchy`),
			gomega.MatchRegexp(`subnamespaces +subns +hnc.x-k8s.io/v1beta1 +true +Subnamespace`),
			gomega.MatchRegexp(`mynamespaces +myns +hnc.x-k8s.io/v1alpha3 +false +MyNamespace`),
			gomega.MatchRegexp(`hierarchyconfigurations +hnc.x-k8s.io/v1alpha2 +true +HierarchyConfiguration`),
			gomega.MatchRegexp(`subnamespaceanchors +(subns +)?hnc.x-k8s.io/v1alpha2 +true +SubnamespaceAnchor`))))
		gomega.Expect(root.kubectl("api-versions")).To(output(gomega.And(
			gomega.ContainSubstring("hnc.x-k8s.io/v1beta1\n"), gomega.ContainSubstring("hnc.x-k8s.io/v1alpha3\n"), gomega.ContainSubstring("hnc.x-k8s.io/v1alpha2\n"))))
	})

	ginkgo.It("lists the kinds of the category", func() {
		gomega.Expect(root.kubectl("api-resources", "--categories=hns", "--output=name")).To(output(gomega.Equal("copyreleases.hnc.x-k8s.io\n" +
			"hierarchicalresourcequotas.hnc.x-k8s.io\nhierarchies.hnc.x-k8s.io\nhncconfigurations.hnc.x-k8s.io\n" +
			"overwrittenobjects.hnc.x-k8s.io\nrepositorysyncs.hnc.x-k8s.io\nsubnamespaces.hnc.x-k8s.io\n")))
		gomega.Expect(root.kubectl("get", "hier,hns", "--all-namespaces")).To(succeed())
	})

	ginkgo.It("explains the fields of every resource", func() {
		// kube-apiserver fetches the schemas of a new API server some time after it is served.
		gomega.Eventually(func() result { return root.kubectl("explain", "hierarchies.spec.parent") }).Should(output(gomega.And(
			gomega.ContainSubstring("VERSION:    v1beta1"), gomega.ContainSubstring("FIELD: parent <string>"),
			gomega.ContainSubstring("a cycle is impossible"))))
		for _, field := range []string{
			"hierarchies.spec.allowCascadingDeletion", "hierarchies.status.conditions", "subnamespaces.spec.labels.key", "subns.status.state",
			"mynamespaces.status.root",
			"hierarchyconfigurations.spec.parent", "subnamespaceanchors.status.status",
		} {
			gomega.Eventually(func() result { return root.kubectl("explain", field) }).Should(output(gomega.And(
				gomega.ContainSubstring("GROUP:      hnc.x-k8s.io"), gomega.Not(gomega.ContainSubstring("<no description>")))), field)
		}
	})

	ginkgo.It("reads and writes the same object under either name", func() {
		ns := newNamespaces("parent", "child", "other")
		parent, child := ns[0], ns[1]
		gomega.Expect(root.create(hierarchyConfiguration(child, parent))).To(succeed())
		const identity = "{.metadata.uid} {.spec.parent}"
		gomega.Expect(root.get(child, "hierarchies/hierarchy", identity)).
			To(gomega.And(gomega.HaveSuffix(" "+parent), gomega.Equal(root.get(child, "hierarchyconfigurations/hierarchy", identity))))
		gomega.Expect(root.get(child, "hierarchies.v1beta1.hnc.x-k8s.io/hierarchy", "{.apiVersion} {.kind}")).To(gomega.Equal("hnc.x-k8s.io/v1beta1 Hierarchy"))
		gomega.Expect(root.get(child, "hierarchyconfigurations.v1alpha2.hnc.x-k8s.io/hierarchy", "{.apiVersion} {.kind}")).
			To(gomega.Equal("hnc.x-k8s.io/v1alpha2 HierarchyConfiguration"))

		sub := name("sub")
		gomega.Expect(root.create(subnamespace(parent, sub))).To(succeed())
		gomega.Expect(root.get(parent, "subns/"+sub, "{.metadata.uid} {.status.state}")).
			To(gomega.And(gomega.HaveSuffix(" Ok"), gomega.Equal(root.get(parent, "subnamespaceanchors/"+sub, "{.metadata.uid} {.status.status}"))))

	})

	ginkgo.It("creates an object at its own URL, as HNC's clients do", func() {
		ns := newNamespaces("child", "parent")
		url := "/apis/hnc.x-k8s.io/v1alpha2/namespaces/" + ns[0] + "/hierarchyconfigurations/hierarchy"
		object := fmt.Sprintf(`{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"HierarchyConfiguration","metadata":{"name":"hierarchy"},"spec":{"parent":%q}}`, ns[1])
		gomega.Expect(root.pipe(object, "create", "--raw", url, "-f", "-")).To(succeed())
		expectDepth(ns[0], ns[1], "1")
	})

	ginkgo.It("keeps track of who owns spec.parent, across versions", func() {
		ns := newNamespaces("child", "first", "second")
		child, first, second := ns[0], ns[1], ns[2]
		gomega.Expect(root.apply(hierarchy(child, first), "--server-side", "--field-manager=red")).To(succeed())
		gomega.Expect(root.kubectl("get", "-n", child, "hierarchyconfigurations/hierarchy", "-o", "yaml", "--show-managed-fields")).
			To(output(gomega.And(gomega.ContainSubstring("manager: red"), gomega.ContainSubstring("f:parent"))))
		blue := hierarchyConfiguration(child, second)
		gomega.Expect(root.apply(blue, "--server-side", "--field-manager=blue")).To(fail(`conflict with "red"`, ".spec.parent"))
		gomega.Expect(root.apply(hierarchy(child, second), "--server-side", "--field-manager=blue")).To(fail(`conflict with "red"`, ".spec.parent"))
		gomega.Expect(root.get(child, theHierarchy, "{.spec.parent}")).To(gomega.Equal(first))
		gomega.Expect(root.apply(blue, "--server-side", "--field-manager=blue", "--force-conflicts")).To(succeed())
		gomega.Expect(root.get(child, theHierarchy, "{.spec.parent}")).To(gomega.Equal(second))
		gomega.Expect(root.apply(hierarchy(child, first), "--server-side", "--field-manager=red")).To(fail(`conflict with "blue"`, ".spec.parent"))
		// Who applies an object without a field that nobody else owns removes the field.
		empty := manifest("hnc.x-k8s.io/v1beta1", "Hierarchy", child, "hierarchy")
		gomega.Expect(root.apply(empty, "--server-side", "--field-manager=blue")).To(succeed())
		gomega.Expect(root.get(child, theHierarchy, "{.spec.parent}")).To(gomega.BeEmpty())
		gomega.Expect(root.apply(subnamespace(child, name("applied")), "--server-side")).To(succeed())
	})

	ginkgo.It("changes nothing with --dry-run=server, and shows what the server would refuse", func(ctx context.Context) {
		ns := newChain("parent", "child")
		other := newNamespace("other")
		u := newUser(ctx)
		u.grant(ctx, "admin", ns[1], other)
		gomega.Eventually(func() string { return root.get(ns[1], theHierarchy, conditions) }).Should(gomega.Equal("Ready=True:Ready "))
		before := root.get(ns[1], theHierarchy, "{.metadata.resourceVersion} {.spec.parent}")

		sub := name("sub")
		gomega.Expect(u.create(subnamespace(other, sub), "--dry-run=server")).To(output(gomega.ContainSubstring("created (server dry run)")))
		gomega.Expect(u.apply(anchor(other, sub), "--dry-run=server", "--server-side")).To(succeed())
		gomega.Expect(root.kubectl("get", "subns", "-n", other, "-o", "name")).To(list())
		gomega.Expect(root.kubectl("get", "ns", sub)).To(beRefused("NotFound"))
		gomega.Expect(root.patch(ns[1], theHierarchy, parentIs(other), "--dry-run=server")).To(output(gomega.ContainSubstring("patched")))
		gomega.Expect(root.kubectl("delete", "-n", ns[1], theHierarchy, "--dry-run=server")).To(succeed())

		gomega.Expect(u.create(subnamespace(other, ns[0]), "--dry-run=server")).To(beRefused("Conflict", "exists already"))
		gomega.Expect(u.create(subnamespace(other, "a.b"), "--dry-run=server")).To(beRefused("Invalid", "metadata.name"))
		gomega.Expect(u.create(hierarchy(other, other), "--dry-run=server")).To(beRefused("Invalid", "cannot be its own parent"))
		gomega.Expect(u.patch(ns[1], theHierarchy, parentIs(other), "--dry-run=server")).To(beRefused("Forbidden", `"`+ns[0]+`"`))
		gomega.Expect(u.kubectl("delete", "-n", ns[1], theHierarchy, "--dry-run=server")).To(beRefused("Forbidden", `"`+ns[0]+`"`))

		gomega.Expect(root.get(ns[1], theHierarchy, "{.metadata.resourceVersion} {.spec.parent}")).To(gomega.Equal(before))
	})

	ginkgo.DescribeTable("watches", func(ctx context.Context, resource string) {
		ns := newNamespaces("child", "parent")
		session, err := gexec.Start(root.command(ctx, "get", resource, "-n", ns[0], "--watch", "--output-watch-events"), nil, nil)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		defer session.Kill()
		gomega.Expect(root.create(hierarchy(ns[0], ns[1]))).To(succeed())
		gomega.Eventually(session.Out).Should(gbytes.Say(`ADDED +hierarchy +` + ns[1]))
		gomega.Expect(root.patch(ns[0], theHierarchy, parentIs(""))).To(succeed())
		gomega.Eventually(session.Out).Should(gbytes.Say(`MODIFIED +hierarchy +0 `))
		gomega.Expect(root.kubectl("delete", "-n", ns[0], theHierarchy)).To(succeed())
		gomega.Eventually(session.Out).Should(gbytes.Say(`DELETED +hierarchy`))
	},
		ginkgo.Entry("hierarchies", "hierarchies"),
		ginkgo.Entry("hierarchies as HNC calls them", "hierarchyconfigurations"),
	)

	ginkgo.It("selects the children of a namespace by the field spec.parent", func() {
		ns := newNamespaces("parent", "one", "two", "other")
		gomega.Expect(root.create(join(hierarchy(ns[1], ns[0]), hierarchy(ns[2], ns[0]), hierarchy(ns[3], ns[1])))).To(succeed())
		for _, resource := range []string{"hierarchies", "hierarchyconfigurations"} {
			gomega.Expect(root.kubectl("get", resource, "-A", "--field-selector=spec.parent="+ns[0], "-o", "jsonpath={.items[*].metadata.namespace}")).
				To(list(ns[1], ns[2]))
			gomega.Expect(root.kubectl("get", resource, "-A", "--field-selector=spec.nonsense=x")).To(beRefused("BadRequest", "spec.nonsense"))
		}
	})

	ginkgo.It("deletes all that is in a namespace, and only what may be deleted", func(ctx context.Context) {
		ns := newNamespaces("parent", "one", "two", "three")
		parent := ns[0]
		gomega.Expect(root.create(join(hierarchy(ns[1], parent), hierarchy(ns[2], parent), hierarchy(ns[3], parent)))).To(succeed())
		u := newUser(ctx)
		u.grant(ctx, "admin", ns[1:]...)
		collection := "/apis/hnc.x-k8s.io/v1beta1/namespaces/" + ns[1] + "/hierarchies"
		gomega.Expect(u.kubectl("delete", "--raw", collection)).To(beRefused("Forbidden", `"`+parent+`"`, "root of the tree"))
		gomega.Expect(u.kubectl("delete", "hierarchies", "--all", "-n", ns[2])).To(beRefused("Forbidden", `"`+parent+`"`))
		u.grant(ctx, "admin", parent)
		// hns-apiserver remembers a denial for a second.
		gomega.Eventually(func() result { return u.kubectl("delete", "--raw", collection) }).Should(succeed())
		gomega.Expect(u.kubectl("delete", "hierarchies", "--all", "-n", ns[2])).To(succeed())
		gomega.Expect(u.kubectl("delete", "hierarchyconfigurations", "--all", "-n", ns[3])).To(succeed())
		for _, each := range ns[1:] {
			expectDepth(each, parent, "")
		}
	})

	ginkgo.It("waits for conditions", func() {
		parent, sub := newNamespace("parent"), name("sub")
		gomega.Expect(root.create(subnamespace(parent, sub))).To(succeed())
		gomega.Expect(root.kubectl("wait", "--for=condition=Ready", "subns/"+sub, "-n", parent, "--timeout=10s")).To(succeed())
		gomega.Expect(root.kubectl("wait", "--for=jsonpath={.status.status}=Ok", "subnamespaceanchors/"+sub, "-n", parent, "--timeout=10s")).To(succeed())
		gomega.Expect(root.kubectl("wait", "--for=condition=Ready", theHierarchy, "-n", sub, "--timeout=10s")).To(succeed())
		gomega.Expect(root.kubectl("describe", "subns", sub, "-n", parent)).To(output(gomega.ContainSubstring("has all that it inherits")))
	})

	ginkgo.It("applies the same manifest again without a change, and shows differences", func() {
		parent, sub := newNamespace("parent"), name("sub")
		child := newNamespace("child")
		both := join(subnamespace(parent, sub), hierarchy(child, parent))
		gomega.Expect(root.apply(both)).To(succeed())
		again := root.apply(both)
		gomega.Expect(again).To(output(gomega.HaveSuffix("unchanged\n")))
		gomega.Expect(strings.Count(again.stdout, "unchanged")).To(gomega.Equal(2))
		gomega.Expect(root.pipe(both, "diff", "-f", "-")).To(succeed())
		gomega.Expect(root.pipe(hierarchy(child, sub), "diff", "-f", "-").stdout).To(gomega.ContainSubstring("+  parent: " + sub))
	})
})
