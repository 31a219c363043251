package policy

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"

func includedNamespaceRows() []row {
	included := func(value string) option { return label(hnc.LabelIncludedNamespace, value) }
	must := "label hnc.x-k8s.io/included-namespace of namespace team-a must be \"true\""
	rows := []row{
		{name: "included: new namespaces get it", request: request{object: namespace("team-a")}, included: "true"},
		{name: "included: beside other labels", request: request{object: namespace("team-a", label("a", "b"))}, included: "true"},
		{name: "included: older namespaces get it when they change", included: "true",
			request: request{object: namespace("team-a", annotation("a", "b")), old: namespace("team-a")}},
		{name: "included: its removal is undone", included: "true",
			request: request{object: namespace("team-a"), old: namespace("team-a", included("true"))}},
		{name: "included: the propagator knows what else is excluded", included: "none",
			request: request{user: hnc.PropagatorUser, object: namespace("team-a"), old: namespace("team-a", included("true"))}},
		{name: "included: right at creation", request: request{object: namespace("team-a", included("true"))}, included: "true"},
		{name: "included: repaired", included: "true",
			request: request{object: namespace("team-a", included("true")), old: namespace("team-a", included("false"))}},
		{name: "included: left wrong", included: "false",
			request: request{object: namespace("team-a", included("false"), label("a", "b")), old: namespace("team-a", included("false"))}},
		{name: "included: left right in the status", included: "true",
			request: request{object: namespace("team-a", included("true")), old: namespace("team-a", included("true")), subresource: "status"}},
		{name: "included: wrong at creation", request: request{object: namespace("team-a", included("false"))}, denied: must},
		{name: "included: empty at creation", request: request{object: namespace("team-a", included(""))}, denied: must},
		{name: "included: made wrong", denied: must,
			request: request{object: namespace("team-a", included("false")), old: namespace("team-a", included("true"))}},
		{name: "included: added wrong", denied: must,
			request: request{object: namespace("team-a", included("false")), old: namespace("team-a")}},
		{name: "included: removed through the status", denied: must,
			request: request{object: namespace("team-a"), old: namespace("team-a", included("true")), subresource: "status"}},
		{name: "included: removed through the finalizers", denied: must,
			request: request{object: namespace("team-a"), old: namespace("team-a", included("true")), subresource: "finalize"}},
	}
	for _, name := range hnc.ExcludedNamespaces {
		excluded := "namespace " + name + " is excluded from hierarchies"
		rows = append(rows,
			row{name: "included: not " + name, request: request{object: namespace(name)}, included: "none"},
			row{name: "included: not " + name + " when it changes", included: "none",
				request: request{object: namespace(name, annotation("a", "b")), old: namespace(name)}},
			row{name: "included: not " + name + " on request", request: request{object: namespace(name, included("true"))}, denied: excluded},
			row{name: "included: not " + name + " on request later", denied: excluded,
				request: request{object: namespace(name, included("true")), old: namespace(name)}},
			row{name: "included: removed from " + name, included: "none",
				request: request{object: namespace(name), old: namespace(name, included("true"))}},
		)
	}
	return rows
}
