package e2e

import (
	"context"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

var _ = ginkgo.Describe("A hierarchy", func() {
	var u user
	var ns, parent string
	ginkgo.BeforeEach(func(ctx context.Context) {
		u = newUser(ctx)
		names := newNamespaces("child", "parent")
		ns, parent = names[0], names[1]
		u.grant(ctx, "admin", ns, parent)
	})

	ginkgo.It("must be named hierarchy, and can't get a generated name", func() {
		hint := []string{"metadata.name", `must be "hierarchy"`}
		other := strings.Replace(hierarchy(ns, parent), "name: hierarchy", "name: other", 1)
		gomega.Expect(u.create(other)).To(beRefused("Invalid", append(hint, `"other"`)...))
		other = strings.Replace(hierarchyConfiguration(ns, parent), "name: hierarchy", "name: other", 1)
		gomega.Expect(u.apply(other)).To(beRefused("Invalid", append(hint, `"other"`)...))
		generated := strings.Replace(hierarchy(ns, parent), "name: hierarchy", "generateName: hierarchy", 1)
		gomega.Expect(u.create(generated)).To(beRefused("Invalid", "metadata.generateName", "set metadata.name"))
	})

	ginkgo.It("can't hold a field that nobody knows", func() {
		unknown := hierarchy(ns, parent) + "  parnet: x\n"
		gomega.Expect(u.create(unknown)).To(beRefused("BadRequest", `unknown field "spec.parnet"`))
		gomega.Expect(u.apply(unknown)).To(beRefused("BadRequest", `unknown field "spec.parnet"`))
		gomega.Expect(u.apply(unknown, "--server-side")).To(fail(".spec.parnet"))
	})

	ginkgo.It("can't set labels or annotations that are not managed (H3)", func() {
		list := "  labels:\n  - {key: team, value: blue}\n  annotations:\n  - {key: not/a/key, value: x}\n"
		gomega.Expect(u.create(hierarchy(ns, parent) + list)).To(beRefused("Invalid", "spec.labels", `"team"`, "spec.annotations", `"not/a/key"`))
	})

	ginkgo.It("can't hold megabytes", func() {
		huge := func(size int) string {
			return manifest("hnc.x-k8s.io/v1beta1", "Hierarchy", ns, "hierarchy") + "  annotations:\n    example.com/a: " + strings.Repeat("a", size) + "\n"
		}
		gomega.Expect(u.create(huge(3_000_000))).To(beRefused("Invalid", "metadata.annotations", "Too long", "65536"))
		gomega.Expect(u.create(huge(4_000_000))).To(beRefused("RequestEntityTooLarge", "limit is 3145728"))
	})

	ginkgo.It("can't be replaced by someone who has not seen the last change", func() {
		gomega.Expect(u.create(hierarchy(ns, parent))).To(succeed())
		stale := u.kubectl("get", "-n", ns, theHierarchy, "-o", "json")
		gomega.Expect(u.kubectl("annotate", "-n", ns, theHierarchy, "a=b")).To(succeed())
		gomega.Expect(u.pipe(stale.stdout, "replace", "-f", "-")).
			To(beRefused("Conflict", "the object has been modified; please apply your changes to the latest version"))
		latest := u.kubectl("get", "-n", ns, "hierarchyconfigurations/hierarchy", "-o", "json")
		gomega.Expect(u.pipe(latest.stdout, "replace", "-f", "-")).To(succeed())
	})
})

var _ = ginkgo.Describe("A sub-namespace", func() {
	var u user
	var parent, other string
	ginkgo.BeforeEach(func(ctx context.Context) {
		u = newUser(ctx)
		names := newNamespaces("parent", "other")
		parent, other = names[0], names[1]
		u.grant(ctx, "admin", parent, other)
	})

	ginkgo.DescribeTable("can't have a name that no namespace can have (A1)", func(bad string) {
		refused := []string{"metadata.name", "must be the name of a namespace"}
		gomega.Expect(u.create(subnamespace(parent, bad))).To(beRefused("Invalid", refused...))
		gomega.Expect(u.create(anchor(parent, bad))).To(beRefused("Invalid", refused...))
	},
		ginkgo.Entry("with a dot", "a.b"),
		ginkgo.Entry("with capitals", "Team"),
		ginkgo.Entry("with an underscore", "a_b"),
		ginkgo.Entry("of 64 characters", strings.Repeat("a", 64)),
	)

	ginkgo.It("can't take a name that is taken (A5)", func() {
		taken := `"` + other + `" exists already`
		gomega.Expect(u.create(subnamespace(parent, other))).To(beRefused("Conflict", "metadata.name", taken, "choose another name"))
		gomega.Expect(u.create(anchor(parent, "kube-system"))).To(beRefused("Forbidden", "metadata.name", `"kube-system"`, "choose another name"))
		gomega.Expect(u.create(subnamespace(parent, parent))).To(beRefused("Conflict", "metadata.name", parent, "choose another name"))
		sub := name("sub")
		gomega.Expect(u.create(subnamespace(parent, sub))).To(succeed())
		gomega.Expect(u.create(anchor(other, sub))).To(beRefused("Conflict", "metadata.name", `"`+sub+`" has another parent already`, "choose another name"))
		gomega.Expect(u.create(subnamespace(parent, sub))).To(beRefused("AlreadyExists"))
	})

	ginkgo.It("is made for one of two parents that want it at once, and the other gets a conflict", func() {
		for range 3 {
			sub := name("wanted")
			results := atOnce(
				func() result { return u.create(subnamespace(parent, sub)) },
				func() result { return u.create(anchor(other, sub)) },
			)
			refused := beRefused("Conflict", "metadata.name", `"`+sub+`"`, "choose another name")
			gomega.Expect(results).To(gomega.ConsistOf(succeed(), refused))
			winner := parent
			if results[0].failed {
				winner = other
			}
			gomega.Expect(root.kubectl("get", "subns", "-A", "-o", "jsonpath={.items[?(@.metadata.name=='"+sub+"')].metadata.namespace}")).
				To(list(winner))
			expectDepth(sub, winner, "1")
		}
	})

	ginkgo.It("can't get a generated name", func() {
		generated := strings.Replace(subnamespace(parent, "generated-"), "name:", "generateName:", 1)
		gomega.Expect(u.create(generated)).To(beRefused("Invalid", "metadata.generateName", "set metadata.name"))
	})
})
