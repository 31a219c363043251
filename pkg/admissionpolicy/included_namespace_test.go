package admissionpolicy

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"

func includedNamespaceRows() []row {
	included := func(value string) option { return label(hnc.LabelIncludedNamespace, value) }
	must := "label hnc.x-k8s.io/included-namespace of namespace team-a must be \"true\""
	rows := []row{
		{name: "MUT-1 included: new namespaces get it", request: request{object: namespace("team-a")}, included: "true"},
		{name: "MUT-1 included: beside other labels", request: request{object: namespace("team-a", label("a", "b"))}, included: "true"},
		{name: "MUT-1 included: older namespaces get it when they change", included: "true",
			request: request{object: namespace("team-a", annotation("a", "b")), old: namespace("team-a")}},
		{name: "MUT-1 included: its removal is undone", included: "true",
			request: request{object: namespace("team-a"), old: namespace("team-a", included("true"))}},
		{name: "included: the propagator knows what else is excluded", included: "none",
			request: request{user: hnc.PropagatorUser, object: namespace("team-a"), old: namespace("team-a", included("true"))}},
		{name: "MUT-2 included: right at creation", request: request{object: namespace("team-a", included("true"))}, included: "true"},
		{name: "N3 included: repaired", included: "true",
			request: request{object: namespace("team-a", included("true")), old: namespace("team-a", included("false"))}},
		{name: "N1 included: left invalid", included: "false",
			request: request{object: namespace("team-a", included("false"), label("a", "b")), old: namespace("team-a", included("false"))}},
		{name: "N1 included: left right in the status", included: "true",
			request: request{object: namespace("team-a", included("true")), old: namespace("team-a", included("true")), subresource: "status"}},
		{name: "N3 included: invalid at creation", request: request{object: namespace("team-a", included("false"))}, denied: must},
		{name: "N3 included: empty at creation", request: request{object: namespace("team-a", included(""))}, denied: must},
		{name: "N3 included: made invalid", denied: must,
			request: request{object: namespace("team-a", included("false")), old: namespace("team-a", included("true"))}},
		{name: "N3 included: added with an invalid value", denied: must,
			request: request{object: namespace("team-a", included("false")), old: namespace("team-a")}},
		{name: "N3 included: removed through the status", denied: must,
			request: request{object: namespace("team-a"), old: namespace("team-a", included("true")), subresource: "status"}},
		{name: "N3 included: removed through the finalizers", denied: must,
			request: request{object: namespace("team-a"), old: namespace("team-a", included("true")), subresource: "finalize"}},
	}
	for _, name := range hnc.ExcludedNamespaces {
		excluded := "namespace " + name + " is excluded from hierarchies"
		rows = append(rows,
			row{name: "MUT-2 included: not " + name, request: request{object: namespace(name)}, included: "none"},
			row{name: "MUT-2 included: not " + name + " when it changes", included: "none",
				request: request{object: namespace(name, annotation("a", "b")), old: namespace(name)}},
			row{name: "N2 included: not " + name + " on request", request: request{object: namespace(name, included("true"))}, denied: excluded},
			row{name: "N2 included: not " + name + " on request later", denied: excluded,
				request: request{object: namespace(name, included("true")), old: namespace(name)}},
			row{name: "included: removed from " + name, included: "none",
				request: request{object: namespace(name), old: namespace(name, included("true"))}},
		)
	}
	return rows
}
