package admissionpolicy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func treeLabelsRows() []row {
	inTree := label(hnc.TreeLabel("team-a"), "0", hnc.TreeLabel("acme"), "1")
	many := func(n int) option {
		pairs := []string{hnc.LabelIncludedNamespace, "true"} // A policy adds it.
		for i := range n - 1 {
			pairs = append(pairs, "l"+strconv.Itoa(i), "")
		}
		return label(pairs...)
	}
	policys := label(hnc.LabelRepositorySync, "policy")
	const tooMany = "metadata.labels of namespace team-a: 1001 labels; a namespace has at most 1000: remove some"
	rows := []row{
		{name: "the number of labels: a namespace may have 1000", request: request{object: namespace("team-a", many(1000)), old: namespace("team-a")}},
		{name: "the number of labels: nobody creates with more", denied: tooMany, request: request{object: namespace("team-a", many(1001))}},
		{name: "the number of labels: nobody adds more", denied: tooMany, request: request{object: namespace("team-a", many(1001)), old: namespace("team-a", many(1000))}},
		{name: "the number of labels: stored ones may stay", request: request{object: namespace("team-a", many(1001), annotation("a", "b")), old: namespace("team-a", many(1001))}},
		{name: "the number of labels: stored ones may get fewer", request: request{object: namespace("team-a", many(1001)), old: namespace("team-a", many(1002))}},
		{name: "the number of labels: the propagator adds more", request: request{user: hnc.PropagatorUser, object: namespace("team-a", many(1001)), old: namespace("team-a", many(1000))}},
	}
	rows = append(rows,
		row{name: "the number of labels: administrators of all namespaces add more",
			request: request{user: namespaceAdmin, object: namespace("team-a", many(1001)), old: namespace("team-a", many(1000))}},
		row{name: "the number of labels: administrators of all namespaces create with more", request: request{user: namespaceAdmin, object: namespace("team-a", many(1001))}},
		row{name: "the number of labels: administrators of all namespaces add no tree labels", denied: "follow from the tree",
			request: request{user: namespaceAdmin, object: namespace("team-a", many(1000), inTree), old: namespace("team-a", many(1000))}},
		row{name: "the number of labels: the admin of a hierarchy adds no more", denied: tooMany,
			request: request{user: treeAdmin, object: namespace("team-a", many(1001)), old: namespace("team-a", many(1000))}},
		row{name: "the number of labels: a repository adds its own",
			request: request{user: synchronizer, object: namespace("team-a", many(1999), policys), old: namespace("team-a", many(1000))}},
		row{name: "the number of labels: a repository adds them to what belongs to it",
			request: request{user: synchronizer, object: namespace("team-a", many(1999), policys), old: namespace("team-a", many(999), policys)}},
		row{name: "the number of labels: a repository adds as many as a namespace may have", denied: "2001 labels; a namespace has at most 1000: remove some",
			request: request{user: synchronizer, object: namespace("team-a", many(2000), policys), old: namespace("team-a", many(999), policys)}},
		row{name: "the number of labels: the account of a repository adds no more to other namespaces", denied: tooMany,
			request: request{user: synchronizer, object: namespace("team-a", many(1001)), old: namespace("team-a", many(1000))}},
		row{name: "the number of labels: nobody else adds more to a namespace of a repository", denied: tooMany,
			request: request{object: namespace("team-a", many(1000), policys), old: namespace("team-a", many(999), policys)}},
		row{name: "the number of labels: its owner changes a namespace with those of its repository",
			request: request{object: namespace("team-a", many(1998), policys), old: namespace("team-a", many(1999), policys)}},
		row{name: "the number of labels: nobody replaces those of a repository", denied: "1999 labels; a namespace has at most 1000: remove some",
			request: request{object: namespace("team-a", many(1997), policys, label("mine", "")), old: namespace("team-a", many(1998), policys)}},
		row{name: "the number of labels: a repository adds no tree labels", denied: "follow from the tree",
			request: request{user: synchronizer, object: namespace("team-a", many(1997), inTree, policys), old: namespace("team-a", many(999), policys)}},
	)
	// Of 100 bytes each, with one that a policy adds.
	large := func(n int, more ...string) option {
		pairs := append([]string{hnc.LabelIncludedNamespace, "true"}, more...)
		for i := range n {
			pairs = append(pairs, fmt.Sprintf("example.com/%028d", i), strings.Repeat("x", 60))
		}
		return label(pairs...)
	}
	const tooLarge = "metadata.labels of namespace team-a: keys and values have more than 65536 bytes: remove some"
	rows = append(rows,
		row{name: "the size of labels: a namespace may have 64 KiB", request: request{object: namespace("team-a", large(654)), old: namespace("team-a")}},
		row{name: "the size of labels: nobody creates with more", denied: tooLarge, request: request{object: namespace("team-a", large(656))}},
		row{name: "the size of labels: nobody adds more", denied: tooLarge, request: request{object: namespace("team-a", large(657)), old: namespace("team-a", large(656))}},
		row{name: "the size of labels: stored ones may stay", request: request{object: namespace("team-a", large(700), annotation("a", "b")), old: namespace("team-a", large(700))}},
		row{name: "the size of labels: stored ones may get smaller", request: request{object: namespace("team-a", large(700, "a", "")), old: namespace("team-a", large(701))}},
		row{name: "the size of labels: as large as a number of labels allows is not too expensive", denied: tooLarge,
			request: request{object: namespace("team-a", large(999)), old: namespace("team-a", large(998))}},
		row{name: "the size of labels: the propagator adds more", request: request{user: hnc.PropagatorUser, object: namespace("team-a", large(700)), old: namespace("team-a")}},
		row{name: "the size of labels: administrators of all namespaces add more",
			request: request{user: namespaceAdmin, object: namespace("team-a", large(700)), old: namespace("team-a")}},
		row{name: "the size of labels: a repository adds its own",
			request: request{user: synchronizer, object: namespace("team-a", large(1300), policys), old: namespace("team-a", large(650), policys)}},
		row{name: "the size of labels: a repository adds as much as a namespace may have", denied: tooLarge,
			request: request{user: synchronizer, object: namespace("team-a", large(1320), policys), old: namespace("team-a", large(650), policys)}},
		row{name: "the size of labels: nobody replaces those of a repository", denied: tooLarge,
			request: request{object: namespace("team-a", large(698, "mine", "x"), policys), old: namespace("team-a", large(700), policys)}},
		row{name: "the size of labels: those of others in a namespace of a repository may get smaller",
			request: request{object: namespace("team-a", large(698), policys), old: namespace("team-a", large(700), policys)}},
		row{name: "the size of labels: nobody else adds more to a namespace of a repository", denied: tooLarge,
			request: request{object: namespace("team-a", large(657), policys), old: namespace("team-a", large(650), policys)}},
	)
	for key, value := range map[string]string{
		hnc.TreeLabel("acme"):      "1",
		hnc.LabelInTree:            "true",
		hnc.LabelHasSubnamespaces:  "true",
		hnc.LabelCascadingDeletion: hnc.CascadingAllowed,
		hnc.LabelOrphaned:          "true",
	} {
		has := label(key, value)
		denied := "labels " + key + " of namespace team-a follow from the tree and only the propagator writes them"
		rows = append(rows,
			row{name: "C2 tree labels: the propagator creates with " + key,
				request: request{user: hnc.PropagatorUser, object: namespace("team-a", has)}},
			row{name: "C2 tree labels: the propagator sets " + key,
				request: request{user: hnc.PropagatorUser, object: namespace("team-a", has), old: namespace("team-a")}},
			row{name: "tree labels: a restore creates with " + key,
				request: request{user: restorer, object: namespace("team-a", has)}},
			row{name: "tree labels: a restore does not set " + key, denied: denied,
				request: request{user: restorer, object: namespace("team-a", has), old: namespace("team-a")}},
			row{name: "N6 tree labels: nobody else creates with " + key, denied: denied,
				request: request{object: namespace("team-a", has)}},
			row{name: "N6 tree labels: nobody else adds " + key, denied: denied,
				request: request{object: namespace("team-a", has), old: namespace("team-a")}},
			row{name: "N6 tree labels: nobody else adds an empty " + key, denied: denied,
				request: request{object: namespace("team-a", label(key, "")), old: namespace("team-a")}},
			row{name: "N6 tree labels: nobody else changes " + key, denied: denied,
				request: request{object: namespace("team-a", label(key, "7")), old: namespace("team-a", has)}},
			row{name: "N7 tree labels: nobody else removes " + key, denied: denied,
				request: request{object: namespace("team-a"), old: namespace("team-a", has)}},
			row{name: "N7 tree labels: not through the status either: " + key, denied: denied,
				request: request{object: namespace("team-a"), old: namespace("team-a", has), subresource: "status"}},
			row{name: "N7 tree labels: not through the finalizers either: " + key, denied: denied,
				request: request{object: namespace("team-a"), old: namespace("team-a", has), subresource: "finalize"}},
			row{name: "N10 tree labels: other changes are allowed: " + key,
				request: request{object: namespace("team-a", has, label("a", "b")), old: namespace("team-a", has)}},
			row{name: "N10 tree labels: other changes of the status are allowed: " + key,
				request: request{object: namespace("team-a", has), old: namespace("team-a", has), subresource: "status"}},
		)
	}
	for key, value := range map[string]string{hnc.AnnotationAbstractAncestors: "eng.platform", hnc.AnnotationAncestry: "team-a.acme", hnc.AnnotationCreatorPending: "uid",
		hnc.AnnotationLimitsPending: "uid"} {
		has, other := annotation(key, value), annotation(key, "other")
		denied := "annotations " + key + " of namespace team-a follow from the tree and only the propagator writes them"
		rows = append(rows,
			row{name: "annotations: the propagator sets " + key,
				request: request{user: hnc.PropagatorUser, object: namespace("team-a", has), old: namespace("team-a")}},
			row{name: "annotations: a restore creates with " + key,
				request: request{user: restorer, object: namespace("team-a", has)}},
			row{name: "annotations: a restore does not change " + key, denied: denied,
				request: request{user: restorer, object: namespace("team-a", other), old: namespace("team-a", has)}},
			row{name: "annotations: nobody else creates with " + key, denied: denied,
				request: request{object: namespace("team-a", has)}},
			row{name: "annotations: nobody else adds " + key, denied: denied,
				request: request{object: namespace("team-a", has), old: namespace("team-a")}},
			row{name: "annotations: nobody else changes " + key, denied: denied,
				request: request{object: namespace("team-a", other), old: namespace("team-a", has)}},
			row{name: "annotations: nobody else removes " + key, denied: denied,
				request: request{object: namespace("team-a"), old: namespace("team-a", has)}},
			row{name: "annotations: not through the status either: " + key, denied: denied,
				request: request{object: namespace("team-a", other), old: namespace("team-a", has), subresource: "status"}},
			row{name: "annotations: other changes are allowed: " + key,
				request: request{object: namespace("team-a", has, label("a", "b")), old: namespace("team-a", has)}},
		)
	}
	rows = append(rows,
		row{name: "annotations: created with a path of its own name",
			request: request{object: namespace("team-a", annotation(hnc.AnnotationAncestry, "team-a"))}},
		row{name: "N6 tree labels: excluded namespaces get none", denied: "of namespace kube-system follow from the tree",
			request: request{object: namespace("kube-system", label(hnc.TreeLabel("acme"), "1")), old: namespace("kube-system")}},
		row{name: "N10 tree labels: the same ones again are no change",
			request: request{object: namespace("team-a", inTree), old: namespace("team-a", inTree)}},
		row{name: "tree labels: created at no distance from itself",
			request: request{object: namespace("team-a", label(hnc.TreeLabel("team-a"), "0"))}},
		row{name: "N6 tree labels: not created at a distance from itself", denied: "labels " + hnc.TreeLabel("team-a") + " of namespace team-a",
			request: request{object: namespace("team-a", label(hnc.TreeLabel("team-a"), "1"))}},
		row{name: "N6 tree labels: not created at no distance from another", denied: "labels " + hnc.TreeLabel("acme") + " of namespace team-a",
			request: request{object: namespace("team-a", label(hnc.TreeLabel("acme"), "0"))}},
		row{name: "N7 tree labels: the one to itself stays, too", denied: "labels " + hnc.TreeLabel("team-a") + " of namespace team-a",
			request: request{object: namespace("team-a"), old: namespace("team-a", label(hnc.TreeLabel("team-a"), "0"))}},
		row{name: "N10 tree labels: similar keys are free",
			request: request{object: namespace("team-a", label("tree.hnc.x-k8s.io/depth", "1", "hnc.x-k8s.io/testNamespace", "true"))}},
	)
	return rows
}
