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
		{"Namespace", `{"type":"DELETED","object":{"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["guest"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"guest"}}}]}}`,
			`{"type":"DELETED","object":{"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["guest"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"guest"}}}]}}`},
		// References to others are those of the tree.
		{"ServiceAccount", `{"type":"ADDED","object":{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"namespace":"guest"},"secrets":[{"namespace":"other"}]}}`, `{"type":"ADDED","object":{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"namespace":"guest"},"secrets":[{"namespace":"other.external"}]}}`},
	} {
		var out bytes.Buffer
		if err := m.Watch(kindOf("v1", event.kind), strings.NewReader(event.in), &out, func() {}); err != nil || strings.TrimSpace(out.String()) != event.out {
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
