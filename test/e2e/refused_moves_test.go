package e2e

import (
	"context"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// maxDepth is how many namespaces a chain may have.
const maxDepth = 60

var _ = ginkgo.Describe("A move that would break the tree", func() {
	var u user
	ginkgo.BeforeEach(func(ctx context.Context) { u = newUser(ctx) })

	ginkgo.It("is refused when a namespace would be its own parent (H10)", func(ctx context.Context) {
		ns := newNamespace("self")
		u.grant(ctx, "admin", ns)
		gomega.Expect(u.apply(hierarchy(ns, ns))).To(beRefused("Invalid", "spec.parent", `"`+ns+`" cannot be its own parent`, "name another namespace"))
		gomega.Expect(u.apply(hierarchyConfiguration(ns, ns))).To(beRefused("Conflict", "hierarchyconfigurations", "spec.parent", ns))
	})

	ginkgo.It("is refused when it would close a cycle of two or three (H10)", func(ctx context.Context) {
		ns := newChain("root", "middle", "leaf")
		u.grant(ctx, "admin", ns...)
		waitForHierarchy(ns[0])
		for _, below := range ns[1:] {
			gomega.Expect(u.patch(ns[0], theHierarchy, parentIs(below))).
				To(beRefused("Invalid", "spec.parent", `"`+below+`", which is its descendant`, "move", "first"))
		}
		gomega.Expect(u.patch(ns[1], "hierarchyconfigurations/hierarchy", parentIs(ns[2]))).To(beRefused("Conflict", "spec.parent", ns[2]+" <- "+ns[1]))
	})

	ginkgo.It("is refused to one of two users who make each other's namespace the parent at once", func(ctx context.Context) {
		ns := newNamespaces("one", "two")
		v := newUser(ctx)
		u.grant(ctx, "admin", ns...)
		v.grant(ctx, "admin", ns...)
		gomega.Expect(root.create(join(hierarchy(ns[0], `""`), hierarchy(ns[1], `""`)))).To(succeed())
		for range 5 {
			gomega.Expect(atOnce(
				func() result { return u.patch(ns[0], theHierarchy, parentIs(ns[1])) },
				func() result { return v.patch(ns[1], theHierarchy, parentIs(ns[0])) },
			)).To(gomega.ConsistOf(succeed(), beRefused("Invalid", "spec.parent", "which is its descendant")))
			for _, each := range ns {
				gomega.Expect(u.patch(each, theHierarchy, parentIs(""))).To(succeed())
			}
		}
	})

	ginkgo.It("is refused when it would close a cycle of sixty, or make a tree deeper than sixty", func(ctx context.Context) {
		bases := make([]string, maxDepth)
		for i := range bases {
			bases[i] = "deep"
		}
		ns := newChain(bases...)
		top, bottom := ns[0], ns[maxDepth-1]
		outside, above := newNamespace("outside"), newNamespace("above")
		u.grant(ctx, "admin", top, outside, above)
		// The permissions come down the tree.
		u.waitUntilMay(ctx, "update", "hierarchies", bottom)
		expectDepth(bottom, top, "59")

		waitForHierarchy(top)
		gomega.Expect(u.patch(top, theHierarchy, parentIs(bottom))).To(beRefused("Invalid", "spec.parent", `"`+bottom+`", which is its descendant`))
		tooDeep := []string{"a tree may be 60 deep", "choose a parent closer to the root", `"` + top + `"`}
		gomega.Expect(u.apply(hierarchy(outside, bottom))).To(beRefused("Invalid", append(tooDeep, "spec.parent")...))
		gomega.Expect(u.create(subnamespace(bottom, name("too-deep")))).To(beRefused("Invalid", append(tooDeep, "metadata.namespace")...))
		gomega.Expect(u.apply(hierarchy(outside, ns[maxDepth-2]))).To(succeed())
		gomega.Expect(u.patch(top, theHierarchy, parentIs(above))).To(beRefused("Invalid", "spec.parent", "the longest chain of a descendant would have 61 namespaces"))
	})

	ginkgo.It("is refused when the parent does not exist or can't have children (H9, H2)", func(ctx context.Context) {
		ns := newNamespace("child")
		u.grant(ctx, "admin", ns)
		gomega.Expect(u.apply(hierarchy(ns, "nowhere"))).To(beRefused("Forbidden", `hierarchies.hnc.x-k8s.io "hierarchy"`, `"nowhere", which is the new parent`))
		gomega.Expect(u.apply(hierarchy(ns, "Not_a_name"))).To(beRefused("Invalid", "spec.parent", "must be the name of a namespace"))
		gomega.Expect(u.apply(hierarchy(ns, "kube-system"))).To(beRefused("Forbidden", "spec.parent", `"kube-system"`, "choose another parent"))
	})

	ginkgo.It("is refused below a namespace whose parent is gone, where other changes are not (H5, H7)", func(ctx context.Context) {
		ns := newChain("gone", "orphan", "below")
		other := newNamespace("other")
		orphan, below := ns[1], ns[2]
		u := newUser(ctx)
		u.grant(ctx, "admin", orphan, below, other)
		expectDepth(below, ns[0], "2")
		gomega.Expect(operator.kubectl("delete", "ns", ns[0])).To(succeed())
		gomega.Expect(u.patch(below, theHierarchy, parentIs(other))).
			To(beRefused("Forbidden", `the parent of "`+orphan+`"`, "does not exist", `give "`+orphan+`" another parent first`))
		gomega.Expect(u.patch(below, theHierarchy, cascade)).To(succeed())
		gomega.Expect(u.patch(orphan, theHierarchy, parentIs(other))).To(succeed())
		gomega.Expect(u.patch(below, theHierarchy, parentIs(other))).To(succeed())
	})

	ginkgo.It("is refused to a sub-namespace, whichever way it is asked (H8)", func(ctx context.Context) {
		ns := newNamespaces("parent", "other")
		sub := name("sub")
		u.grant(ctx, "admin", ns...)
		gomega.Expect(u.create(subnamespace(ns[0], sub))).To(succeed())
		hint := []string{`"` + sub + `" is a sub-namespace of "` + ns[0] + `"`, "remove its annotation hnc.x-k8s.io/subnamespace-of first"}
		gomega.Expect(u.patch(sub, theHierarchy, parentIs(ns[1]))).To(beRefused("Conflict", append(hint, ns[1])...))
		gomega.Expect(u.patch(sub, "hierarchyconfigurations/hierarchy", parentIs(""))).To(beRefused("Conflict", hint...))
	})
})

var _ = ginkgo.Describe("A move by someone who may edit the namespace's hierarchy", func() {
	var u user
	var oldRoot, oldParent, moved, newParent string
	ginkgo.BeforeEach(func(ctx context.Context) {
		u = newUser(ctx)
		ns := newChain("old-root", "old-parent", "moved")
		oldRoot, oldParent, moved = ns[0], ns[1], ns[2]
		newParent = newNamespace("new-parent")
		u.grant(ctx, "admin", moved)
	})
	refusedAt := func(ns string) []string {
		return []string{`"` + u.name + `" may not modify the subtree of namespace "` + ns + `"`, "this needs the verb update on hierarchies.hnc.x-k8s.io there"}
	}
	move := func() result { return u.patch(moved, theHierarchy, parentIs(newParent)) }

	ginkgo.It("is refused unless they are an administrator of the root of the tree that it leaves (AUTH-6)", func(ctx context.Context) {
		u.grant(ctx, "admin", newParent, oldParent)
		gomega.Expect(move()).To(beRefused("Forbidden", refusedAt(oldRoot)...))
		gomega.Expect(u.patch(moved, theHierarchy, parentIs(""))).To(beRefused("Forbidden", refusedAt(oldRoot)...))
		gomega.Expect(u.kubectl("delete", theHierarchy, "-n", moved)).To(beRefused("Forbidden", refusedAt(oldRoot)...))
	})

	ginkgo.It("is refused unless they are an administrator of the new parent (AUTH-6)", func(ctx context.Context) {
		u.grant(ctx, "admin", oldRoot)
		gomega.Expect(move()).To(beRefused("Forbidden", refusedAt(newParent)...))
		gomega.Expect(u.patch(moved, "hierarchyconfigurations/hierarchy", parentIs(newParent))).
			To(beRefused("Forbidden", append(refusedAt(newParent), "hierarchyconfigurations")...))
	})

	ginkgo.It("is refused if they are an administrator of neither (AUTH-9)", func() {
		gomega.Expect(move()).To(beRefused("Forbidden", refusedAt(newParent)...))
	})

	ginkgo.It("is done if they are an administrator of both", func(ctx context.Context) {
		u.grant(ctx, "admin", oldRoot, newParent)
		gomega.Expect(move()).To(succeed())
		expectDepth(moved, newParent, "1")
	})
})
