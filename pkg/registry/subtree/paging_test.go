package subtree

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	restclient "k8s.io/client-go/rest"
)

// pages calls use with the pages of a list with a limit of 500, and returns how many there are.
func (h *handler) pages(t *testing.T, most int, use func(*page)) int {
	t.Helper()
	query := url.Values{"limit": {"500"}}
	for n := 1; ; n++ {
		w, err := h.listAs(t, "ann", query)
		if err != nil || n > most {
			t.Fatalf("%d pages, %v", n, err)
		}
		var answer page
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if use(&answer); answer.Metadata.Continue == "" {
			return n
		}
		query.Set("continue", answer.Metadata.Continue)
	}
}

// Of an object of 1 MiB, each character may have six bytes as JSON.
func TestPagesOfLargeObjectsHaveFewer(t *testing.T) {
	for padding, most := range map[int]int{6 << 10: 5, 12 << 10: 2, 30 << 10: 1} {
		s, h := newHandler(t, &fixedTree{names: []string{"a", "b"}})
		h.memory = newMemory(36<<10, 72<<10)
		s.padding, s.objects = strings.Repeat("x", padding), map[string]int{"a": 11, "b": 2}
		listed := 0
		pages := h.pages(t, 14, func(p *page) {
			if n := p.len(); n == 0 || n > most {
				t.Errorf("%d bytes each: a page of %d", padding, n)
			}
			listed += p.len()
		})
		// Only the first page finds out how many can be read at a time.
		if reads := s.reads(); reads > pages+6 {
			t.Errorf("%d bytes each: %d reads for %d pages", padding, reads, pages)
		}
		watched := 0
		r := reader{upstream: h.upstream, kind: configMaps, output: outputType{accept: runtime.ContentTypeJSON}, memory: h.memory.share("ann", "a")}
		if err := r.eachNamespace(t.Context(), []string{"a", "b"}, "1", func(_ string, p *page) error {
			watched += p.len()
			return nil
		}); err != nil {
			t.Error(err)
		}
		if listed != 13 || watched != 13 || h.memory.used != 0 {
			t.Errorf("%d bytes each: %d are listed and %d watched of 13, %d bytes are in use", padding, listed, watched, h.memory.used)
		}
	}
}

// A page that has no room for more ends before it reads more.
func TestPagesOfLargeObjectsEndInTime(t *testing.T) {
	tree := &fixedTree{}
	s, h := newHandler(t, tree)
	h.memory = newMemory(36<<10, 72<<10)
	s.padding, s.objects = strings.Repeat("x", 12<<10), map[string]int{}
	for c := 'a'; c <= 'z'; c++ {
		tree.names, s.objects[string(c)] = append(tree.names, string(c)), 1
	}
	if pages, reads := h.pages(t, 26, func(*page) {}), s.reads(); pages != 13 || reads > 26+maxParallel {
		t.Errorf("%d reads of 26 namespaces for %d pages of two", reads, pages)
	}
}

// Namespaces that exceed the memory together are read one by one, and each as a whole.
func TestPagesOfManyObjectsHaveWholeNamespaces(t *testing.T) {
	s, h := newHandler(t, &fixedTree{names: []string{"a", "b", "c"}})
	h.memory = newMemory(36<<10, 72<<10)
	s.padding, s.objects = strings.Repeat("x", 1000), map[string]int{"a": 20, "b": 20, "c": 20}
	h.pages(t, 3, func(p *page) {
		if p.len() != 20 {
			t.Errorf("a page has %d objects, want 20", p.len())
		}
	})
}

// A client may begin with one object, to see what there is.
func TestPagesHaveTheirOwnLimit(t *testing.T) {
	s, h := newHandler(t, &fixedTree{names: []string{"a"}})
	s.objects = map[string]int{"a": 100}
	query := url.Values{"limit": {"1"}}
	for _, want := range []int{1, 99} {
		w, err := h.listAs(t, "ann", query)
		if err != nil {
			t.Fatal(err)
		}
		var answer page
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.len() != want {
			t.Errorf("with the limit %s, a page has %d objects, want %d", query.Get("limit"), answer.len(), want)
		}
		query = url.Values{"limit": {"500"}, "continue": {answer.Metadata.Continue}}
	}
}

func TestNamespacesAreReadInParallelWithAnyLimit(t *testing.T) {
	met := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, metav1.NamespacePublic) {
			select {
			case met <- struct{}{}:
			case <-met:
			case <-time.After(10 * time.Second):
				t.Errorf("with the limit %s, namespaces are read one by one", r.URL.Query().Get("limit"))
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`))
	}))
	defer server.Close()
	_, h := newHandler(t, &fixedTree{names: []string{"a", "b"}})
	var err error
	if h.upstream, err = newUpstream(&restclient.Config{Host: server.URL, QPS: -1}); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []string{"1", "500", "9223372036854775807"} {
		if _, err := h.listAs(t, "ann", url.Values{"limit": {limit}}); err != nil {
			t.Error(err)
		}
	}
}

// Only an object that is too large on its own cannot be listed or watched.
func TestAnObjectThatIsTooLargeIsNamed(t *testing.T) {
	s, h := newHandler(t, &fixedTree{names: []string{"a"}})
	h.memory = newMemory(36<<10, 72<<10)
	s.padding, s.objects = strings.Repeat("x", 40<<10), map[string]int{"a": 3}
	_, listErr := h.listAs(t, "ann", url.Values{"limit": {"500"}, "continue": {continueToken{ResourceVersion: "1", After: "a", Continue: "1"}.String()}})
	r := reader{upstream: h.upstream, kind: configMaps, output: outputType{accept: runtime.ContentTypeJSON}, memory: h.memory.share("ann", "a")}
	watchErr := r.eachNamespace(t.Context(), []string{"a"}, "1", func(string, *page) error { return nil })
	for i, err := range []error{watchErr, listErr} {
		if want := fmt.Sprintf(`configmaps "%d" in namespace "a" has more than 64 MiB`, i); !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if h.memory.used != 0 {
		t.Errorf("%d bytes are in use", h.memory.used)
	}
}

// After large objects, pages grow again.
func TestPagesGrowAgain(t *testing.T) {
	m := newMemory(100, 200)
	var got []int64
	for limit := int64(500); limit > 1; limit = fewer(limit) {
		got = append(got, limit)
	}
	for limit, bytes := int64(1), int64(0); limit < 500; limit = m.more(limit, 500, bytes) {
		got = append(got, limit)
	}
	if fmt.Sprint(got) != "[500 16 4 1 4 16 64 256]" || m.more(4, 16, 26) != 4 || m.more(4, 16, 25) != 16 || fewer(10) != 2 {
		t.Errorf("got %v", got)
	}
}
