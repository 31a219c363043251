package subtree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// fixedTree has one subtree. While held is not nil, it is fresh when held is closed.
type fixedTree struct {
	names []string
	held  chan struct{}
	// waiting receives an element for each request that waits.
	waiting chan struct{}
}

func (f *fixedTree) WaitUntilFresh(context.Context) error {
	if f.held != nil {
		f.waiting <- struct{}{}
		<-f.held
	}
	return nil
}

func (f *fixedTree) Members(context.Context, string) ([]string, error) { return f.names, nil }
func (f *fixedTree) Root(string) string                                { return "a" }
func (f *fixedTree) Changed() <-chan struct{}                          { return nil }

// everythingAllowed authorizes all requests.
type everythingAllowed struct{ authorizer.Authorizer }

func (everythingAllowed) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

// listAs lists ConfigMaps in the subtree of the namespace a as a user.
func (h *handler) listAs(t *testing.T, name string, query url.Values) (*httptest.ResponseRecorder, error) {
	t.Helper()
	info := &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "list", APIGroup: groupName, Namespace: "a", Resource: "configmaps", Parts: []string{"configmaps"}}
	ctx := genericapirequest.WithRequestInfo(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name}), info)
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, "GET", "/?"+query.Encode(), nil)
	return w, h.serve(w, r, info, configMaps)
}

// newHandler returns a handler that reads from a source.
func newHandler(t *testing.T, tree Tree) (*source, *handler) {
	t.Helper()
	s, mux, _ := newSource(t)
	return s, &handler{
		members: newMembers(tree), upstream: mux.upstream, mux: mux, memory: testMemory(), continued: newSlots(), authorizer: everythingAllowed{},
		lastChange: func(string) (time.Time, bool) { return time.Time{}, false },
		serializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
		limits: map[string]*inflight.Limiter{
			"list":  inflight.New("lists", inflight.Limits{Total: 3, PerUser: 2}, 1),
			"watch": inflight.New("watches", inflight.Limits{Total: 100, PerUser: 100}, 1),
		},
	}
}

func TestListsOfOneUserAreLimited(t *testing.T) {
	tree := &fixedTree{names: []string{"a"}, held: make(chan struct{}), waiting: make(chan struct{}, 3)}
	_, h := newHandler(t, tree)
	results := make(chan error, 3)
	for _, name := range []string{"ann", "ann", "ben"} {
		go func() {
			_, err := h.listAs(t, name, nil)
			results <- err
		}()
		<-tree.waiting
	}
	for _, name := range []string{"ann", "cat"} {
		if _, err := h.listAs(t, name, nil); !apierrors.IsTooManyRequests(err) {
			t.Errorf("%s got %v, want TooManyRequests", name, err)
		}
	}
	close(tree.held)
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	tree.held = nil
	if _, err := h.listAs(t, "ann", nil); err != nil {
		t.Error(err)
	}
}

// large returns a handler with 31 objects of 1 KiB in a, 100 in b and one in each of c to z, and memory for 33 of them.
func large(t *testing.T) (s *source, h *handler, want []string) {
	t.Helper()
	tree := &fixedTree{}
	s, h = newHandler(t, tree)
	s.padding, s.objects = strings.Repeat("x", 1000), map[string]int{"a": 31, "b": 100}
	for c := 'a'; c <= 'z'; c++ {
		name := string(c)
		tree.names = append(tree.names, name)
		s.objects[name] = max(s.objects[name], 1)
		for i := range s.objects[name] {
			want = append(want, fmt.Sprint(name, "/", i))
		}
	}
	h.memory = newMemory(36<<10, 60<<10)
	return s, h, want
}

// A selector is repeated for each namespace.
func TestSelectorsAcrossASubtreeAreBounded(t *testing.T) {
	h := &handler{members: newMembers(&fixedTree{}), memory: newMemory(1, 1)}
	for _, parameter := range []string{"labelSelector", "fieldSelector"} {
		_, err := h.listAs(t, "eve", url.Values{parameter: {strings.Repeat("metadata.name=a,", 1001)[:16*1001-1]}})
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), parameter) {
			t.Errorf("%s: %v", parameter, err)
		}
	}
}

func TestListsThatExceedTheMemoryAreRejectedOrHaveMorePages(t *testing.T) {
	s, h, want := large(t)
	if _, err := h.listAs(t, "ann", nil); !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "--chunk-size of kubectl") {
		t.Errorf("without a limit: got %v, want RequestEntityTooLarge with the remedy", err)
	}
	for _, limit := range []int{1, 10, 16, 30, 500} {
		var got []string
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		for pages := 0; ; pages++ {
			w, err := h.listAs(t, "ann", query)
			if err != nil || pages > len(want) {
				t.Fatalf("limit %d: %d pages, error %v", limit, pages, err)
			}
			var answer page
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if len(answer.Items) > limit || w.Body.Len() > 36<<10 {
				t.Errorf("limit %d: a page of %d objects, %d bytes", limit, len(answer.Items), w.Body.Len())
			}
			for _, item := range answer.Items {
				var id identity
				if err := json.Unmarshal(item, &id); err != nil {
					t.Fatal(err)
				}
				got = append(got, id.Metadata.Namespace+"/"+id.Metadata.Name)
			}
			if answer.Metadata.Continue == "" {
				break
			}
			query.Set("continue", answer.Metadata.Continue)
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: got %q", limit, got)
		}
	}
	if used := h.memory.used; used != 0 || len(h.memory.users) > 0 {
		t.Errorf("%d bytes are in use after all lists", used)
	}
	t.Logf("%d lists", s.reads())
}

func TestListsInFlightShareTheMemory(t *testing.T) {
	_, h, _ := large(t)
	other := h.memory.share("eve", "b")
	if err := other.take(50 << 10); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v, want errTooLarge", err)
	}
	for user, root := range map[string]string{"eve": "b", "mallory": "c"} {
		other = h.memory.share(user, root)
		if err := other.take(28 << 10); err != nil {
			t.Fatal(err)
		}
		if err := h.memory.share(user, "d").take(28 << 10); !apierrors.IsTooManyRequests(err) {
			t.Errorf("a second list of one user: got %v, want TooManyRequests", err)
		}
	}
	if _, err := h.listAs(t, "ann", url.Values{"limit": {"10"}}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v, want TooManyRequests", err)
	}
	other.giveBack(0)
	if _, err := h.listAs(t, "ann", url.Values{"limit": {"10"}}); err != nil {
		t.Error(err)
	}
}

// Tenants may have any number of users, such as ServiceAccounts.
func TestListsOfOneTreeLeaveMemoryToOthers(t *testing.T) {
	_, h, _ := large(t)
	if err := h.memory.share("eve", "a").take(35 << 10); err != nil {
		t.Fatal(err)
	}
	other := h.memory.share("bob", "a")
	if err := other.take(8 << 10); err != nil {
		t.Errorf("another user of the tree: %v", err)
	}
	if _, err := h.listAs(t, "mallory", url.Values{"limit": {"10"}}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("another user of the tree: got %v, want TooManyRequests", err)
	}
	other.giveBack(0)
	ann := h.memory.share("ann", "b")
	if err := ann.take(20 << 10); err != nil {
		t.Errorf("a user of another tree: %v", err)
	}
	ann.giveBack(0)
	if len(h.memory.users) != 1 || len(h.memory.trees) != 1 {
		t.Errorf("%v and %v are in use", h.memory.users, h.memory.trees)
	}
}

func TestWatchesReadWhatExceedsTheMemoryInPages(t *testing.T) {
	s, h, want := large(t)
	r := reader{upstream: h.upstream, kind: configMaps, output: outputType{accept: runtime.ContentTypeJSON}, memory: h.memory.share("ann", "a")}
	names, err := h.members.subtree(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var atOnce int64
	if err := r.eachNamespace(t.Context(), names, "1", func(name string, p *page) error {
		atOnce = h.memory.used >> 10
		for range p.Items {
			got = append(got, name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i] = want[i][:1]
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if atOnce < 3 {
		t.Errorf("after large namespaces, %d small ones are read at a time", atOnce)
	}
	if used := h.memory.used; used != 0 || len(h.memory.users) > 0 {
		t.Errorf("%d bytes are in use", used)
	}
	t.Logf("%d lists", s.reads())
}
