package mapping

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func respond(m *Mapper, kind schema.GroupVersionKind, list bool, body string) (string, error) {
	var out bytes.Buffer
	err := m.Response(kind, list, iotest.OneByteReader(strings.NewReader(body)), &out)
	return strings.TrimSuffix(out.String(), "\n"), err
}

func TestResponsesAreTranslatedAsTheyStream(t *testing.T) {
	m := testMapper()
	for _, c := range []struct {
		name, apiVersion, kind string
		list                   bool
		in, out                string
	}{
		{"object", "v1", "Pod", false, `{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"acme-prod"}}`, `{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"prod"}}`},
		{"list", "v1", "Pod", true, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"namespace":"acme-prod"}},{"metadata":{"namespace":"acme"}}]}`,
			`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"namespace":"prod"}},{"metadata":{"namespace":"default"}}]}`},
		{"list of custom resources", "a.b/v1", "C", true, `{"apiVersion":"a.b/v1","items":[{"apiVersion":"a.b/v1","kind":"C","metadata":{"namespace":"acme-prod"}}],"kind":"CList","metadata":{"continue":""}}`,
			`{"apiVersion":"a.b/v1","items":[{"apiVersion":"a.b/v1","kind":"C","metadata":{"namespace":"prod"}}],"kind":"CList","metadata":{"continue":""}}`},
		{"empty list", "v1", "Pod", true, `{"kind":"PodList","items":[]}`, `{"kind":"PodList","items":[]}`},
		{"no items", "v1", "Pod", true, `{"kind":"PodList","items":null}`, `{"kind":"PodList","items":null}`},
		{"object with items", "a.b/v1", "C", false, `{"apiVersion":"a.b/v1","items":[{"metadata":{"namespace":"acme-prod"}}],"kind":"C"}`, `{"apiVersion":"a.b/v1","items":[{"metadata":{"namespace":"acme-prod"}}],"kind":"C"}`},
		{"error", "v1", "Namespace", true, `{"kind":"Status","apiVersion":"v1","message":"namespaces \"acme-prod\" is forbidden"}`, `{"kind":"Status","apiVersion":"v1","message":"namespaces \"prod\" is forbidden"}`},
		{"partial metadata", "v1", "Namespace", true, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"acme-prod"}}]}`,
			`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"prod"}}]}`},
		{"table", "v1", "Namespace", true, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Status"}],"rows":[{"cells":["acme-prod","acme-prod"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"acme-prod"}}}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Status"}],"rows":[{"cells":["prod","acme-prod"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"prod"}}}]}`},
		{"role bindings", "rbac.authorization.k8s.io/v1", "RoleBinding", false, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Users"},{"name":"ServiceAccounts"}],"rows":[{"cells":["acme","jane, system:serviceaccount:acme:a","acme-prod/a, argocd/b"]}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Users"},{"name":"ServiceAccounts"}],"rows":[{"cells":["acme","jane, system:serviceaccount:default:a","prod/a, argocd.external/b"]}]}`},
		{"trees", "hnc.x-k8s.io/v1beta1", "HierarchyTree", false, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["acme"]},{"cells":["  acme-prod"]}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["default"]},{"cells":["  prod"]}]}`},
		{"events", "v1", "Event", true, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Object"}],"rows":[{"cells":["namespace/acme-prod"]},{"cells":["pod/acme-prod"]}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Object"}],"rows":[{"cells":["namespace/prod"]},{"cells":["pod/acme-prod"]}]}`},
		{"volumes", "v1", "PersistentVolume", true, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Claim"}],"rows":[{"cells":["acme-prod/data"]}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Claim"}],"rows":[{"cells":["prod/data"]}]}`},
		{"another kind of table", "a.b/v1", "Table", false, `{"apiVersion":"a.b/v1","kind":"Table","rows":[{"object":{}}],"metadata":{"namespace":"acme-prod"}}`, `{"apiVersion":"a.b/v1","kind":"Table","rows":[{"object":{}}],"metadata":{"namespace":"prod"}}`},
		{"not an object", "v1", "Pod", false, `"ok"`, `"ok"`},
		{"empty", "v1", "Pod", false, ``, ``},
	} {
		if out, err := respond(m, kindOf(c.apiVersion, c.kind), c.list, c.in); err != nil || out != c.out {
			t.Errorf("%s: %v\n%s\nexpected\n%s", c.name, err, out, c.out)
		}
	}
}

func TestWatchesOfAnotherKindOfTable(t *testing.T) {
	var out bytes.Buffer
	event := `{"type":"ADDED","object":{"apiVersion":"a.b/v1","kind":"Table","metadata":{"namespace":"acme-prod"},"rows":[{"cells":[1]}]}}` + "\n"
	if err := testMapper().Watch(kindOf("a.b/v1", "Table"), strings.NewReader(event), &out); err != nil || out.String() != strings.Replace(event, "acme-prod", "prod", 1) {
		t.Errorf("got %s, %v", out.String(), err)
	}
}

// kube-apiserver stores objects of 10,000 levels. One does not take others from lists and watches.
func TestDeepObjectsAreTranslated(t *testing.T) {
	m := testMapper()
	deep := func(namespace string) string {
		return `{"metadata":{"namespace":"` + namespace + `"},"a":` + strings.Repeat(`{"metadata":[`, 2500) + strings.Repeat("]}", 2500) + `}`
	}
	list := func(namespace string) string {
		return `{"kind":"CList","items":[{"metadata":{"namespace":"` + namespace + `"}},` + deep(namespace) + `,{"metadata":{"namespace":"` + namespace + `"}}]}`
	}
	if out, err := respond(m, kindOf("a.b/v1", "C"), true, list("acme-prod")); err != nil || out != list("prod") {
		t.Errorf("a list: %v, got %d bytes", err, len(out))
	}
	if out, err := respond(m, kindOf("a.b/v1", "C"), false, deep("acme-prod")); err != nil || out != deep("prod") {
		t.Errorf("an object: %v, got %d bytes", err, len(out))
	}
	var out bytes.Buffer
	event := func(namespace string) string { return `{"type":"ADDED","object":` + deep(namespace) + "}\n" }
	if err := m.Watch(kindOf("a.b/v1", "C"), strings.NewReader(event("acme-prod")+event("acme-prod")), &out); err != nil || out.String() != event("prod")+event("prod") {
		t.Errorf("a watch: %v, got %d bytes", err, out.Len())
	}
	if _, _, err := m.Request("application/json", kindOf("a.b/v1", "C"), []byte(deep("prod"))); !apierrors.IsBadRequest(err) {
		t.Errorf("a request: %v", err)
	}
}

// written receives what is written.
type written chan string

func (w written) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

func TestEachEventIsWrittenAtOnce(t *testing.T) {
	m := testMapper()
	in, w := io.Pipe()
	out, done := make(written), make(chan error, 1)
	go func() { done <- m.Watch(kindOf("v1", "Namespace"), in, out) }()
	for _, event := range [][2]string{
		{`{"type":"ADDED","object":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"acme-prod"}}}`, `{"type":"ADDED","object":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"prod"}}}`},
		{`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["acme-prod"]}]}}`, `{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["prod"]}]}}`},
		{`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":null,"rows":[{"cells":["acme"]}]}}`, `{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":null,"rows":[{"cells":["default"]}]}}`},
		{`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"namespace \"acme-prod\""}}`, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"namespace \"prod\""}}`},
	} {
		if _, err := io.WriteString(w, event[0]); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(<-out); got != event[1] {
			t.Errorf("%s\nexpected\n%s", got, event[1])
		}
	}
	_ = w.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestListsOfAnySizeAreStreamedInLittleMemory(t *testing.T) {
	m := testMapper()
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, `{"kind":"PodList","items":[{}`)
		for range maxObject / 40 {
			_, _ = io.WriteString(w, `,{"metadata":{"namespace":"acme-prod","name":"a"}}`)
		}
		_, _ = io.WriteString(w, `]}`)
		_ = w.Close()
	}()
	if err := m.Response(kindOf("v1", "Pod"), true, r, io.Discard); err != nil {
		t.Error(err)
	}
	for body, is := range map[string]func(error) bool{
		fmt.Sprintf(`{"kind":"PodList","items":[{"a":"%s"}]}`, strings.Repeat("a", maxObject)): apierrors.IsRequestEntityTooLargeError,
		fmt.Sprintf(`{"kind":"PodList","a":"%s","items":[]}`, strings.Repeat("a", maxObject)):  apierrors.IsRequestEntityTooLargeError,
		`{"kind":"PodList","items":[` + strings.Repeat("[", maxDepth+10):                       func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) },
		`{"kind":"PodList","items":[{}`: func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) },
		`{"kind":"PodList"`:             func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) },
	} {
		if out, err := respond(m, kindOf("v1", "Pod"), true, body); !is(err) {
			t.Errorf("%.60s: %q %v", body, out, err)
		}
	}
}
