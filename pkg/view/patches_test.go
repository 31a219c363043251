package view

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// Some of these make the library that applies them panic.
func TestPatchesOfANamespaceThatCannotBeApplied(t *testing.T) {
	members := fixed{"acme": {Present: t.Context()}, "acme-dev": {Present: t.Context(), Parent: "acme", Subnamespace: true}}
	h := New(Config{
		Root: "acme", Server: &url.URL{Scheme: "https", Host: "cluster"}, Members: members,
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "acme", Relative: true, Prefix: "acme-", Member: members.Has}), nil),
		Caller: func(*http.Request) (*Connection, error) {
			return &Connection{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodGet {
					t.Errorf("%s %s reaches kube-apiserver", r.Method, r.URL)
				}
				if strings.Contains(r.URL.Path, "/subnamespaces/") {
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(
						`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Subnamespace","metadata":{"name":"acme-dev","namespace":"acme","generation":1},"status":{"observedGeneration":1}}`))}, nil
				}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(
					`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme-dev","uid":"u","resourceVersion":"1","labels":{"a":"b"}}}`))}, nil
			})}, nil
		},
	})
	h.Kinds = &Kinds{known: someKinds, refreshed: farFuture}
	for _, test := range []struct{ contentType, body string }{
		{"application/json-patch+json", `[{"op":"replace","path":""}]`},
		{"application/json-patch+json", `[{"op":"test","path":""}]`},
		{"application/json-patch+json", `[{"op":"test","path":"/metadata/labels"}]`},
		{"application/json-patch+json", `[{"op":"add","path":"/metadata/finalizers","value":[null]},{"op":"test","path":"/metadata/finalizers","value":[null]}]`},
		{"application/json-patch+json", `[{"op":"replace","path":"/metadata/name","value":"other"}]`},
		{"application/json-patch+json", `[{"op":"remove","path":""}]`},
		{"application/json-patch+json", `[null]`},
		{"application/json-patch+json", ``},
		{"application/json-patch+json", copies(40)},
		{"application/merge-patch+json", `null`},
		{"application/merge-patch+json", `[]`},
		{"application/merge-patch+json", `{"metadata":null}`},
		{"application/merge-patch+json", strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000)},
		{"application/strategic-merge-patch+json", `{"metadata":{"labels":["x"]}}`},
		{"application/strategic-merge-patch+json", `{"metadata":{"$patch":"delete"}}`},
		{"application/strategic-merge-patch+json", `{"metadata":{"finalizers":{"x":"y"}}}`},
		{"application/apply-patch+yaml", `a: &a [x,x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]`},
		{"application/cbor", `x`},
	} {
		r := httptest.NewRequest(http.MethodPatch, "/api/v1/namespaces/dev", strings.NewReader(test.body))
		r.Header.Set("Content-Type", test.contentType)
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if cause := recover(); cause != nil {
					t.Errorf("%s %.200s: panics with %v", test.contentType, test.body, cause)
				}
			}()
			h.ServeHTTP(w, r)
		}()
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s %.200s: %d %.300s", test.contentType, test.body, w.Code, w.Body)
		}
	}
}

// copies returns a JSON patch that doubles the object n times.
func copies(n int) string {
	var operations []string
	for i := range n {
		operations = append(operations, fmt.Sprintf(`{"op":"copy","from":"/metadata","path":"/metadata/x%d"}`, i))
	}
	return "[" + strings.Join(operations, ",") + "]"
}

// Those who may write the namespace itself can give it managed fields that no patch decodes.
func TestManagedFieldsOfANamespaceEndNoPatch(t *testing.T) {
	deep := strings.Repeat(`{"f:a":`, 1001) + "{}" + strings.Repeat("}", 1001)
	for contentType, patch := range map[string]string{
		mergePatch:    `{"metadata":{"labels":{"a":"b"}}}`,
		jsonPatchType: `[{"op":"replace","path":"/metadata/managedFields","value":[{}]},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`,
	} {
		written := ""
		h := relative(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPut {
				body, err := io.ReadAll(r.Body)
				written = string(body)
				return answer(subnamespace), err
			}
			if strings.Contains(r.URL.Path, "/subnamespaces/") {
				return answer(subnamespace), nil
			}
			return answer(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme-x","uid":"u","resourceVersion":"1","managedFields":[{"fieldsType":"FieldsV1","fieldsV1":` + deep + `}]}}`), nil
		})
		h.Members = fixed{"acme-x": {Present: t.Context(), Parent: "acme", Subnamespace: true}}
		r := httptest.NewRequest(http.MethodPatch, "/api/v1/namespaces/x", strings.NewReader(patch))
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK || !strings.Contains(written, `{"key":"a","value":"b"}`) {
			t.Errorf("%s: got %d %.300s; %.300s is written", contentType, w.Code, w.Body, written)
		}
	}
}
