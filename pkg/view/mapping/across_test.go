package mapping

import (
	"bytes"
	"strings"
	"testing"
)

// Events reach a view before it knows that their namespace is a member, and after it knows that it is none any more.
func TestObjectsAcrossTheViewAreOfMembers(t *testing.T) {
	m := testMapper().Across()
	for _, event := range []struct{ kind, in, out string }{
		{"Pod", `{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"guest"}}}`, `{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"guest"}}}`},
		{"Pod", `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"acme-new"}}}`, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"new"}}}`},
		{"Namespace", `{"type":"DELETED","object":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"guest"}}}`, `{"type":"DELETED","object":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"guest"}}}`},
		{"Namespace", `{"type":"DELETED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["guest"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"guest"}}}]}}`,
			`{"type":"DELETED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["guest"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"guest"}}}]}}`},
		// References to others are those of the tree.
		{"ServiceAccount", `{"type":"ADDED","object":{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"namespace":"guest"},"secrets":[{"namespace":"other"}]}}`, `{"type":"ADDED","object":{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"namespace":"guest"},"secrets":[{"namespace":"other.external"}]}}`},
	} {
		var out bytes.Buffer
		if err := m.Watch(kindOf("v1", event.kind), strings.NewReader(event.in), &out); err != nil || strings.TrimSpace(out.String()) != event.out {
			t.Errorf("%v\n%s\nexpected\n%s", err, out.String(), event.out)
		}
	}
	if out, err := respond(m, kindOf("v1", "Pod"), true, `{"items":[{"metadata":{"namespace":"guest"}}]}`); err != nil || out != `{"items":[{"metadata":{"namespace":"guest"}}]}` {
		t.Errorf("a list: %s, %v", out, err)
	}
	if out, err := respond(testMapper(), kindOf("v1", "Pod"), false, `{"metadata":{"namespace":"guest"}}`); err != nil || out != `{"metadata":{"namespace":"guest.external"}}` {
		t.Errorf("an object that is not of such a response: %s, %v", out, err)
	}
}

func TestShadowedNamespacesAreLeftOut(t *testing.T) {
	m := New(relative("x@1", "acme-x@2"), nil).Across()
	pod := func(namespace string) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"` + namespace + `"}}`
	}
	namespace := func(name string) string {
		return `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"` + name + `"}}`
	}
	row := func(name string) string { return `{"cells":["` + name + `"],"object":` + namespace(name) + `}` }
	for _, c := range []struct{ kind, in, out string }{
		{"Pod", `{"items":[` + pod("acme-x") + `,` + pod("x") + `,` + pod("acme-x") + `,` + pod("acme") + `]}`, `{"items":[` + pod("x") + `,` + pod("default") + `]}`},
		{"Pod", `{"items":[` + pod("acme-x") + `]}`, `{"items":[]}`},
		{"Pod", `{"items":[]}`, `{"items":[]}`},
		{"Namespace", `{"items":[` + namespace("x") + `,` + namespace("acme-x") + `]}`, `{"items":[` + namespace("x") + `]}`},
		{"Namespace", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[` + row("acme-x") + `,` + row("x") + `]}`, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[` + row("x") + `]}`},
	} {
		if out, err := respond(m, kindOf("v1", c.kind), true, c.in); err != nil || out != c.out {
			t.Errorf("%v\n%s\nexpected\n%s", err, out, c.out)
		}
	}
	event := func(object string) string { return `{"type":"ADDED","object":` + object + "}\n" }
	table := `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[` + row("acme-x") + `]}`
	var out bytes.Buffer
	err := m.Watch(kindOf("v1", "Namespace"), strings.NewReader(event(namespace("acme-x"))+event(table)+event(namespace("x"))), &out)
	if err != nil || out.String() != event(namespace("x")) {
		t.Errorf("a watch: %v\n%s", err, out.String())
	}
}
