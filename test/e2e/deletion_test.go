package e2e

import (
	"context"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// cascade is a patch of a hierarchy that allows cascading deletion.
const cascade = `{"spec":{"allowCascadingDeletion":true}}`

// newSubnamespaces makes a full namespace and below it a chain of sub-namespaces, and returns their names, the root
// first.
func newSubnamespaces(bases ...string) []string {
	ginkgo.GinkgoHelper()
	names := []string{newNamespace(bases[0])}
	for i, base := range bases[1:] {
		names = append(names, name(base))
		gomega.Expect(root.create(subnamespace(names[i], names[i+1]))).To(succeed())
	}
	return names
}

// expectGone waits until namespaces are gone.
func expectGone(names ...string) {
	ginkgo.GinkgoHelper()
	args := []string{"wait", "--for=delete", "--timeout=" + goneDeadline.String()}
	for _, ns := range names {
		args = append(args, "namespace/"+ns)
	}
	gomega.Expect(root.kubectl(args...)).To(succeed())
	for _, ns := range names {
		gomega.Expect(root.kubectl("get", "ns", ns)).To(beRefused("NotFound"))
	}
}

// expectActive checks that namespaces are there, and stay.
func expectActive(names ...string) {
	ginkgo.GinkgoHelper()
	for _, ns := range names {
		gomega.Expect(root.get("", "ns/"+ns, "{.status.phase}")).To(gomega.Equal("Active"), "namespace %s", ns)
	}
}

// setBindingFinalizers sets the finalizers of a namespace's own RoleBindings.
func setBindingFinalizers(ctx context.Context, ns, finalizers string) {
	ginkgo.GinkgoHelper()
	bindings, err := kube.RbacV1().RoleBindings(ns).List(ctx, metav1.ListOptions{LabelSelector: "!" + hnc.LabelInheritedFrom})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, b := range bindings.Items {
		_, err := kube.RbacV1().RoleBindings(ns).Patch(ctx, b.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
	}
}

// Kubernetes takes its time to delete a namespace, so all deletions are under way while the refusals are tried, and
// what takes the longest is looked at last.
var _ = ginkgo.Describe("Deletion", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
	var leaf, byAnchor, tree, branch, chain []string
	var full, below, plain string

	ginkgo.BeforeAll(func(ctx context.Context) {
		tree = newSubnamespaces("root", "one", "two", "three")
		full, below = newNamespace("full"), newNamespace("below")
		gomega.Expect(root.create(join(hierarchy(full, tree[2]), hierarchy(below, full)))).To(succeed())
		gomega.Expect(root.patch(tree[0], theHierarchy, cascade)).To(succeed())
		expectDepth(below, tree[0], "4")
		gomega.Eventually(func() result { return operator.kubectl("delete", "ns", tree[0], "--wait=false") }).Should(succeed())

		editor := newUser(ctx)
		branch = newSubnamespaces("root", "branch", "twig")
		editor.grant(ctx, "edit", branch[0])
		gomega.Expect(root.patch(branch[1], "hierarchyconfigurations/hierarchy", cascade)).To(succeed())
		gomega.Expect(editor.kubectl("delete", "subns", branch[1], "-n", branch[0], "--wait=false")).To(succeed())

		leaf, byAnchor = newSubnamespaces("parent", "leaf"), newSubnamespaces("parent", "leaf")
		editor.grant(ctx, "edit", leaf[0], byAnchor[0])
		gomega.Expect(editor.kubectl("delete", "subns", leaf[1], "-n", leaf[0], "--wait=false")).To(succeed())
		gomega.Expect(editor.kubectl("delete", "subnamespaceanchors", byAnchor[1], "-n", byAnchor[0], "--wait=false")).To(succeed())

		plain = newNamespace("plain")
		chain = newChain("root", "middle", "leaf")
		expectDepth(chain[2], chain[0], "2")
		gomega.Expect(operator.kubectl("delete", "ns", plain, chain[1], "--wait=false")).To(succeed())
	})

	ginkgo.It("of a sub-namespace itself is refused (N8)", func() {
		ns := newSubnamespaces("parent", "child")
		gomega.Expect(operator.kubectl("delete", "ns", ns[1])).
			To(beRefused("Forbidden", "namespace "+ns[1]+" is a sub-namespace of "+ns[0], "kubectl delete subns "+ns[1]+" -n "+ns[0]))
		expectActive(ns...)
	})

	ginkgo.It("of a namespace that has sub-namespaces is refused (N9)", func() {
		ns := newSubnamespaces("parent", "child")
		gomega.Expect(operator.kubectl("delete", "ns", ns[0])).
			To(beRefused("Forbidden", "namespace "+ns[0]+" has sub-namespaces", "kubectl get ns -l "+ns[0]+".tree.hnc.x-k8s.io/depth=1", "spec.allowCascadingDeletion"))
		expectActive(ns...)
	})

	ginkgo.It("of a Subnamespace is refused if its namespace has children, even full ones (A6)", func(ctx context.Context) {
		withSub, withFull := newSubnamespaces("root", "parent", "child"), newSubnamespaces("root", "parent")
		child := newNamespace("full")
		u := newUser(ctx)
		u.grant(ctx, "admin", withSub[0], withFull[0], child)
		u.waitUntilMay(ctx, "update", "hierarchies", withFull[1])
		gomega.Expect(u.create(hierarchy(child, withFull[1]))).To(succeed())
		for _, ns := range [][]string{withSub, withFull} {
			for _, resource := range []string{"subns", "subnamespaceanchors"} {
				gomega.Expect(u.kubectl("delete", resource, ns[1], "-n", ns[0])).
					To(beRefused("Forbidden", `"`+ns[1]+`" has children and`, "delete them first", "spec.allowCascadingDeletion"))
			}
		}
		expectActive(append(append(withSub, withFull...), child)...)
	})

	ginkgo.It("keeps a namespace from being given a parent, divided, made a parent, or moved", func(ctx context.Context) {
		u := newUser(ctx)
		ns := newNamespaces("dying", "dying-child", "other")
		dying, child, other := ns[0], ns[1], ns[2]
		u.grant(ctx, "admin", ns...)
		gomega.Expect(u.create(hierarchy(child, other))).To(succeed())
		// Finalizers of others hold what is written to, and the user's permissions, which the namespace controller
		// would remove seconds later.
		for _, each := range []string{dying, child} {
			gomega.Expect(root.create(configMap(each, "held") + "  finalizers: [example.com/held]\n")).To(succeed())
			setBindingFinalizers(ctx, each, `["example.com/held"]`)
		}
		gomega.Expect(root.patch(child, theHierarchy, `{"metadata":{"finalizers":["example.com/held"]}}`)).To(succeed())
		gomega.Expect(operator.kubectl("delete", "ns", dying, child, "--wait=false")).To(succeed())

		terminating := beRefused("Forbidden", "namespace "+dying+" because it is being terminated")
		gomega.Expect(u.create(hierarchy(dying, other))).To(terminating)
		gomega.Expect(u.create(hierarchyConfiguration(dying, other))).To(terminating)
		gomega.Expect(u.create(subnamespace(dying, name("sub")))).To(terminating)
		gomega.Expect(u.create(anchor(dying, name("sub")))).To(terminating)
		gomega.Expect(u.apply(hierarchy(other, dying))).To(beRefused("Forbidden", "spec.parent", `"`+dying+`" is being deleted`, "choose another parent"))
		gomega.Expect(u.patch(child, theHierarchy, parentIs(""))).To(beRefused("Forbidden", `"`+child+`" is being deleted`))
		gomega.Expect(u.create(subnamespace(other, dying))).To(beRefused("Conflict", `"`+dying+`" is being deleted`, "try again when it is gone"))

		for _, each := range []string{"configmap/held", theHierarchy} {
			gomega.Expect(root.patch(child, each, `{"metadata":{"finalizers":null}}`)).To(succeed())
		}
		gomega.Expect(root.patch(dying, "configmap/held", `{"metadata":{"finalizers":null}}`)).To(succeed())
		setBindingFinalizers(ctx, dying, "null")
		setBindingFinalizers(ctx, child, "null")
		expectGone(dying, child)
	})

	ginkgo.It("of a Subnamespace deletes its namespace, under both names (DEL-2)", func() {
		expectGone(leaf[1], byAnchor[1])
		for _, parent := range []string{leaf[0], byAnchor[0]} {
			gomega.Eventually(func() result { return root.kubectl("get", "subns", "-n", parent, "-o", "name") }).Should(list())
		}
		expectActive(leaf[0], byAnchor[0])
	})

	ginkgo.It("of a plain namespace, or of a full one in a tree, takes nothing else along (N10, COND-ParentMissing)", func() {
		expectGone(plain, chain[1])
		expectActive(chain[0], chain[2])
		gomega.Eventually(func() string { return root.get(chain[2], theHierarchy, conditions) }).Should(gomega.And(
			gomega.ContainSubstring("ActivitiesHalted=True:ParentMissing"), gomega.ContainSubstring("Ready=False:ParentMissing")))
		gomega.Eventually(func() string { return root.get(chain[0], theHierarchy, "{.status.children}") }).Should(gomega.BeEmpty())
		expectDepth(chain[2], chain[1], "")
	})

	ginkgo.It("is forgotten when a parent comes back", func() {
		gomega.Expect(root.create(namespace(chain[1]))).To(succeed())
		for each, want := range map[string]string{"hierarchies/hierarchy": "Ready=True:Ready ", "hierarchyconfigurations/hierarchy": ""} {
			gomega.Eventually(func() string { return root.get(chain[2], each, conditions) }).Should(gomega.Equal(want))
		}
		expectDepth(chain[2], chain[1], "1")
		// The new namespace does not have the parent of the old one.
		gomega.Expect(depth(chain[1], chain[0])).To(gomega.BeEmpty())
	})

	ginkgo.It("of a Subnamespace that allows cascading deletion takes the sub-namespaces below along (DEL-2)", func() {
		expectGone(branch[1:]...)
		expectActive(branch[0])
	})

	ginkgo.It("of a namespace that allows cascading deletion takes all levels of sub-namespaces along, and no full namespace (CASCADE-3, CASCADE-5, CASCADE-6, COND-AncestorHaltActivities, CASE-4)", func() {
		expectGone(tree...)
		expectActive(full, below)
		gomega.Eventually(func() string { return root.get(full, theHierarchy, conditions) }).
			Should(gomega.And(gomega.ContainSubstring("ActivitiesHalted=True:ParentMissing"), gomega.ContainSubstring("Ready=False:ParentMissing")))
		gomega.Eventually(func() string { return root.get(below, theHierarchy, conditions) }).
			Should(gomega.And(gomega.ContainSubstring("ActivitiesHalted=True:AncestorHaltActivities"), gomega.ContainSubstring("Ready=False")))
		expectDepth(below, tree[0], "")
	})

	ginkgo.It("of its parent leaves a full namespace that an administrator of it and of another can move there (CASCADE-6)", func(ctx context.Context) {
		parent := newNamespace("adopting")
		u := newUser(ctx)
		u.grant(ctx, "admin", full, parent)
		gomega.Expect(u.patch(full, theHierarchy, parentIs(parent))).To(succeed())
		expectDepth(below, parent, "2")
		for _, each := range []string{full, below} {
			gomega.Eventually(func() string { return root.get(each, theHierarchy, conditions) }).Should(gomega.Equal("Ready=True:Ready "))
		}
	})
})
