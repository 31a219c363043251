package view

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// pairsOf returns so many annotations in JSON.
func pairsOf(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, `"a%05d":"",`, i)
	}
	return list.String() + `"a":""`
}

// annotated returns the namespace acme-x with more than so many annotations.
func annotated(annotations int) string {
	return `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme-x","uid":"u","resourceVersion":"1","annotations":{` + pairsOf(annotations) + `}}}`
}

func answer(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{"Content-Type": {"application/json"}}}
}

const subnamespace = `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Subnamespace","metadata":{"name":"acme-x","namespace":"acme","generation":1},"status":{"observedGeneration":1}}`

// writer calls a function when it is written to.
type writer struct {
	*httptest.ResponseRecorder
	before func()
}

func (w writer) Write(p []byte) (int, error) {
	w.before()
	return w.ResponseRecorder.Write(p)
}

// What is read to change or delete a namespace takes many times its size, and its client may not read the response.
func TestNamespacesThatAreReadAreCounted(t *testing.T) {
	namespace := annotated(4000)
	values := rbac.ValueSize * yamlbody.Values([]byte(namespace), true)
	for _, test := range []struct {
		method, query, contentType, body string
		member                           Member
	}{
		{http.MethodPatch, "", "application/merge-patch+json", "{}", Member{Parent: "acme", Subnamespace: true}},
		{http.MethodPatch, "", "application/strategic-merge-patch+json", "{}", Member{Parent: "acme", Subnamespace: true}},
		{http.MethodPut, "", "application/json", strings.ReplaceAll(namespace, "acme-x", "x"), Member{Parent: "acme", Subnamespace: true}},
		{http.MethodPut, "", "application/json", `{"metadata":{"name":"x"}}`, Member{}},
		{http.MethodDelete, "?dryRun=All", "application/json", "", Member{Parent: "acme", Subnamespace: true}},
	} {
		what := fmt.Sprintf("%s %+v as %s", test.method, test.member, test.contentType)
		b, writes, size := &perUser{}, 0, int64(copiesOfRead*len(namespace)+values)
		if len(test.body) > 1000 {
			size += int64(copiesOfBody*len(test.body) + values) // for the same values
		}
		h := relative(t, func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				writes++
			}
			switch {
			case strings.Contains(r.URL.Path, "/subnamespaces/"):
				return answer(subnamespace), nil
			case r.Method == http.MethodGet:
				return answer(namespace), nil
			}
			if b.bytes != 0 {
				t.Errorf("%s: %d bytes are counted after the namespace was used", what, b.bytes)
			}
			return answer(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme-x"}}`), nil
		})
		test.member.Present = t.Context()
		h.Members = fixed{"acme-x": &test.member}
		send := func(budget Budget, w http.ResponseWriter) {
			h.Budget = budget
			r := httptest.NewRequest(test.method, "/api/v1/namespaces/x"+test.query, strings.NewReader(test.body))
			r.Header.Set("Content-Type", test.contentType)
			h.ServeHTTP(w, r)
		}
		w := httptest.NewRecorder()
		send(b, writer{w, func() {
			if test.member.Subnamespace && b.bytes != size {
				t.Errorf("%s: %d bytes are counted while the response is written, and not %d", what, b.bytes, size)
			}
		}})
		if w.Code != http.StatusOK || b.most != size || b.bytes != 0 {
			t.Errorf("%s: got %d %.300s; %d bytes are counted, and not %d, and %d are left", what, w.Code, w.Body, b.most, size, b.bytes)
		}
		writes = 0
		w = httptest.NewRecorder()
		if send(full{}, w); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || writes != 0 {
			t.Errorf("%s: without memory, got %d %.300s, and %d writes are sent", what, w.Code, w.Body, writes)
		}
	}
}

// A call that reads an object until it is as it should be has it once. A large one ends while it is read.
func TestRepeatedReadsCountOnce(t *testing.T) {
	b := &perUser{}
	read := 0
	upstream := roundTrip(func(*http.Request) (*http.Response, error) {
		got := answer("")
		got.Body = io.NopCloser(io.TeeReader(strings.NewReader(`"`+strings.Repeat("x", 1<<20)+`"`), counter{&read}))
		return got, nil
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	c := &call{r: r, budget: b, up: &Connection{Transport: upstream}}
	client := newReads(c)
	const size = 8 << 20
	for _, test := range []struct {
		path string
		want int64
	}{{"/a", size}, {"/a", size}, {"/b", MaxPart}, {"/c", MaxPart}} {
		got, err := client.RoundTrip(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: test.path}})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(got.Body); err != nil || len(text) != 1<<20+2 || b.bytes < test.want || b.bytes > test.want+1<<10 {
			t.Errorf("%s: %d bytes, %v; %d are counted, and not %d", test.path, len(text), err, b.bytes, test.want)
		}
	}
	if client.release(); b.bytes != 0 {
		t.Errorf("%d bytes are left", b.bytes)
	}
	read, c.budget = 0, full{}
	if _, err := client.RoundTrip(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/a"}}); !apierrors.IsTooManyRequests(err) || read > 2*rbac.Uncounted {
		t.Errorf("got %v after %d bytes", err, read)
	}
}

type counter struct{ n *int }

func (c counter) Write(p []byte) (int, error) {
	*c.n += len(p)
	return len(p), nil
}

// The response to a review contains the review.
func TestReviewsOfSubjectsAreCounted(t *testing.T) {
	review := `"spec":{"user":"u","groups":[` + strings.Repeat(`"g",`, 10000) + `"g"],"resourceAttributes":{"namespace":"x","verb":"get","resource":"pods"}}}`
	h := relative(t, func(*http.Request) (*http.Response, error) {
		return answer(`{"apiVersion":"authorization.k8s.io/v1","kind":"LocalSubjectAccessReview",` + review), nil
	})
	send := func(budget Budget) *httptest.ResponseRecorder {
		h.Budget = budget
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", strings.NewReader("{"+review)))
		return w
	}
	b := &onlyReads{}
	if w := send(b); w.Code != http.StatusCreated || b.most < 10000*rbac.ValueSize || b.bytes != 0 {
		t.Errorf("got %d %.300s; %d bytes are counted, and %d are left", w.Code, w.Body, b.most, b.bytes)
	}
	if w := send(full{}); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("without memory, got %d %.300s", w.Code, w.Body)
	}
}

// A view reads a CustomResourceDefinition until it is ready, and has released it when the client reads the response.
func TestDefinitionsThatAreAwaitedAreCounted(t *testing.T) {
	stored := func(spec string) string {
		return `{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"ViewDefinition","metadata":{"name":"widgets.example.com","namespace":"acme"},"spec":{"x":"` + spec + `"},` +
			`"status":{"conditions":[{"type":"Ready","status":"False","reason":"Invalid","message":"m"}]}}`
	}
	large := stored(strings.Repeat("x", 1<<20))
	h := relative(t, func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return answer(large), nil
		}
		return answer(stored("")), nil
	})
	known := maps.Clone(someKinds)
	known[definitions.WithVersion("v1")] = kind{mapping.Definition, false}
	b := &perUser{}
	h.Kinds, h.Budget = &Kinds{known: known, refreshed: farFuture}, b
	r := httptest.NewRequest(http.MethodPut, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", strings.NewReader(
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com"}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(writer{w, func() {
		if b.bytes != 0 {
			t.Errorf("%d bytes are counted while the response is written", b.bytes)
		}
	}}, r)
	if w.Code != http.StatusOK || b.most < copiesOfRead<<20 || b.bytes != 0 {
		t.Errorf("got %d %.300s; %d bytes are counted, and %d are left", w.Code, w.Body, b.most, b.bytes)
	}
}
