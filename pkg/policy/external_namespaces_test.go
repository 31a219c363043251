package policy

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"

func externalNamespacesRows() []row {
	managedBy := func(who string) option { return annotation(hnc.AnnotationManagedBy, who) }
	root := label(hnc.TreeLabel("team-a"), "0")
	child := label(hnc.TreeLabel("team-a"), "0", hnc.TreeLabel("acme"), "1", hnc.TreeLabel("top"), "2")
	denied := "namespace team-a is a child of acme and so cannot be managed by other: make it a root first"
	return []row{
		{name: "external: N5, a child", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child)}},
		{name: "external: N5, through the status", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child), subresource: "status"}},
		{name: "external: N5, through the finalizers", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child), subresource: "finalize"}},
		{name: "external: N5, a child that was ours by name", denied: denied,
			request: request{object: namespace("team-a", child, managedBy("other")), old: namespace("team-a", child, managedBy("hnc.x-k8s.io"))}},
		{name: "external: a root", request: request{object: namespace("team-a", root, managedBy("other")), old: namespace("team-a", root)}},
		{name: "external: at creation", request: request{object: namespace("team-a", managedBy("other"))}},
		{name: "external: a child stays ours", request: request{object: namespace("team-a", child, managedBy("hnc.x-k8s.io")), old: namespace("team-a", child)}},
		{name: "external: with tree labels of its own",
			request: request{object: namespace("team-a", child, managedBy("other"), label("a", "b")), old: namespace("team-a", child, managedBy("other"))}},
		{name: "external: no longer", request: request{object: namespace("team-a", child), old: namespace("team-a", child, managedBy("other"))}},
	}
}
