package admissionpolicy

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"

func externalNamespacesRows() []row {
	managedBy := func(who string) option { return annotation(hnc.AnnotationManagedBy, who) }
	root := label(hnc.TreeLabel("team-a"), "0")
	child := label(hnc.TreeLabel("team-a"), "0", hnc.TreeLabel("acme"), "1", hnc.TreeLabel("top"), "2")
	inTree := label(hnc.TreeLabel("team-a"), "0", hnc.LabelInTree, "true")
	orphan := label(hnc.TreeLabel("team-a"), "0", hnc.LabelInTree, "true", hnc.LabelOrphaned, "true")
	limitsPending := annotation(hnc.AnnotationLimitsPending, "acme")
	subnamespaceOf := func(parent string) option { return annotation(hnc.AnnotationSubnamespaceOf, parent) }
	const (
		needsAdmin = "it takes the verb update on hierarchies.hnc.x-k8s.io in namespace team-a"
		joins      = "would let namespace team-a join the tree of lab: to set " + needsAdmin
	)
	denied := "namespace team-a is a child of acme and so cannot be managed by other: make it a root first"
	return []row{
		{name: "N5 external: a child", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child)}},
		{name: "N5 external: through the status", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child), subresource: "status"}},
		{name: "N5 external: through the finalizers", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child), subresource: "finalize"}},
		{name: "N5 external: a child that was ours by name", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child, managedBy("hnc.x-k8s.io"))}},
		{name: "N10 external: a root", request: request{object: namespace("team-a", root, managedBy("other")), old: namespace("team-a", root)}},
		{name: "external: a root with children", denied: "namespace team-a is in a tree, which its annotation hnc.x-k8s.io/managed-by affects: to set " + needsAdmin,
			request: request{object: namespace("team-a", inTree, managedBy("other")), old: namespace("team-a", inTree)}},
		{name: "external: a root with children, through the status", denied: needsAdmin,
			request: request{object: namespace("team-a", inTree, managedBy("other")), old: namespace("team-a", inTree), subresource: "status"}},
		{name: "external: an orphan", denied: needsAdmin,
			request: request{object: namespace("team-a", orphan, managedBy("other")), old: namespace("team-a", orphan)}},
		{name: "external: a root with children, no longer", denied: "to remove " + needsAdmin,
			request: request{object: namespace("team-a", inTree), old: namespace("team-a", inTree, managedBy("other"))}},
		{name: "external: a root with children gets another manager",
			request: request{object: namespace("team-a", inTree, managedBy("another")), old: namespace("team-a", inTree, managedBy("other"))}},
		{name: "external: by the admin of the hierarchy",
			request: request{user: hierarchyAdmin, object: namespace("team-a", orphan, managedBy("other")), old: namespace("team-a", orphan)}},
		{name: "external: a child, by the admin of the hierarchy", denied: denied,
			request: request{user: hierarchyAdmin, object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child)}},
		{name: "external: by the admin of another hierarchy", denied: "in namespace team-b",
			request: request{user: hierarchyAdmin, object: namespace("team-b", inTree, managedBy("other")), old: namespace("team-b", inTree)}},
		{name: "subnamespace-of: a root", denied: joins, request: request{object: namespace("team-a", subnamespaceOf("lab")), old: namespace("team-a")}},
		{name: "subnamespace-of: through the status", denied: joins,
			request: request{object: namespace("team-a", subnamespaceOf("lab")), old: namespace("team-a"), subresource: "status"}},
		{name: "subnamespace-of: another parent", denied: joins,
			request: request{object: namespace("team-a", subnamespaceOf("lab")), old: namespace("team-a", subnamespaceOf("acme"))}},
		{name: "subnamespace-of: by the admin of the hierarchy only", denied: "in namespace lab",
			request: request{user: hierarchyAdmin, object: namespace("team-a", subnamespaceOf("lab")), old: namespace("team-a")}},
		{name: "subnamespace-of: before the labels, by the admin of both hierarchies",
			request: request{user: treeAdmin, object: namespace("team-a", subnamespaceOf("acme")), old: namespace("team-a")}},
		{name: "subnamespace-of: a child, by the admin of its hierarchy only", denied: "would make the child team-a a sub-namespace of acme, which cannot be deleted " +
			"without it: to set it takes the verb update on hierarchies.hnc.x-k8s.io in namespace acme",
			request: request{user: hierarchyAdmin, object: namespace("team-a", child, subnamespaceOf("acme")), old: namespace("team-a", child)}},
		{name: "subnamespace-of: a child, by the admin of its parent, too",
			request: request{user: treeAdmin, object: namespace("team-a", child, subnamespaceOf("acme")), old: namespace("team-a", child)}},
		{name: "subnamespace-of: a grandchild", denied: "in namespace top",
			request: request{user: hierarchyAdmin, object: namespace("team-a", child, subnamespaceOf("top")), old: namespace("team-a", child)}},
		{name: "subnamespace-of: removed", request: request{object: namespace("team-a", child), old: namespace("team-a", child, subnamespaceOf("acme"))}},
		{name: "subnamespace-of: removed before the limits are in force", denied: "before the limits of the new sub-namespace are in force",
			request: request{object: namespace("team-a", child, limitsPending), old: namespace("team-a", child, limitsPending, subnamespaceOf("acme"))}},
		{name: "subnamespace-of: changed by the propagator before the limits are in force",
			request: request{user: hnc.PropagatorUser, object: namespace("team-a", child, limitsPending), old: namespace("team-a", child, limitsPending, subnamespaceOf("acme"))}},
		{name: "subnamespace-of: unchanged before the limits are in force", request: request{
			object: namespace("team-a", child, limitsPending, subnamespaceOf("acme"), annotation("note", "x")), old: namespace("team-a", child, limitsPending, subnamespaceOf("acme"))}},
		{name: "subnamespace-of: unchanged",
			request: request{object: namespace("team-a", subnamespaceOf("acme"), label("a", "b")), old: namespace("team-a", subnamespaceOf("acme"))}},
		{name: "subnamespace-of: at creation", denied: "would make the child team-a a sub-namespace of lab, which cannot be deleted without it",
			request: request{object: namespace("team-a", subnamespaceOf("lab"))}},
		{name: "subnamespace-of: at creation, by the admin of the namespace only", denied: "in namespace acme",
			request: request{user: hierarchyAdmin, object: namespace("team-a", subnamespaceOf("acme"))}},
		{name: "subnamespace-of: at creation, by the admin of the parent", request: request{user: treeAdmin, object: namespace("team-b", subnamespaceOf("acme"))}},
		{name: "subnamespace-of: at creation, in a restore", request: request{user: restorer, object: namespace("team-a", child, subnamespaceOf("acme"))}},
		{name: "subnamespace-of: a restore does not set it later", denied: "join the tree of acme",
			request: request{user: restorer, object: namespace("team-a", subnamespaceOf("acme")), old: namespace("team-a")}},
		{name: "subnamespace-of: at creation, by the propagator", request: request{user: hnc.PropagatorUser, object: namespace("team-a", child, subnamespaceOf("acme"))}},
		{name: "subnamespace-of: empty at creation", request: request{object: namespace("team-a", subnamespaceOf(""))}},
		{name: "external: at creation", request: request{object: namespace("team-a", managedBy("other"))}},
		{name: "external: a child stays ours", request: request{object: namespace("team-a", child, managedBy("hnc.x-k8s.io")), old: namespace("team-a", child)}},
		{name: "external: with tree labels of its own",
			request: request{object: namespace("team-a", child, managedBy("other"), label("a", "b")), old: namespace("team-a", child, managedBy("other"))}},
		{name: "external: no longer", request: request{user: hierarchyAdmin, object: namespace("team-a", child), old: namespace("team-a", child, managedBy("other"))}},
		{name: "external: no longer, outside any tree", request: request{object: namespace("team-a", root), old: namespace("team-a", root, managedBy("other"))}},
	}
}
