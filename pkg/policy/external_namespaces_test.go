package policy

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"

func externalNamespacesRows() []row {
	managedBy := func(who string) option { return annotation(hnc.AnnotationManagedBy, who) }
	root := label(hnc.TreeLabel("team-a"), "0")
	child := label(hnc.TreeLabel("team-a"), "0", hnc.TreeLabel("acme"), "1", hnc.TreeLabel("top"), "2")
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
		{name: "external: at creation", request: request{object: namespace("team-a", managedBy("other"))}},
		{name: "external: a child stays ours", request: request{object: namespace("team-a", child, managedBy("hnc.x-k8s.io")), old: namespace("team-a", child)}},
		{name: "external: with tree labels of its own",
			request: request{object: namespace("team-a", child, managedBy("other"), label("a", "b")), old: namespace("team-a", child, managedBy("other"))}},
		{name: "external: no longer", request: request{object: namespace("team-a", child), old: namespace("team-a", child, managedBy("other"))}},
	}
}
