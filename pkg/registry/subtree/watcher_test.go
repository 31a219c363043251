package subtree

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// A client that goes on watching misses what has joined and keeps what has left if its old namespaces are unknown.
func TestAWatchDoesNotGoOnFromUnknownNamespaces(t *testing.T) {
	expired, busy := apierrors.NewResourceExpired("compacted"), apierrors.NewTooManyRequests("busy", 1)
	for _, test := range []struct {
		name string
		err  error
		// elsewhere is whether another API server serves the kind.
		elsewhere bool
		want      func(error) bool
	}{
		{"the revision is too old", expired, false, apierrors.IsResourceExpired},
		{"kube-apiserver is busy", busy, false, apierrors.IsTooManyRequests},
		{"revisions of another API server", expired, true, func(err error) bool { return err == nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &watcher{
				handler: &handler{
					labeledAt:      func(context.Context, string, string, *share) ([]string, error) { return nil, test.err },
					otherRevisions: func(schema.GroupVersionResource) bool { return test.elsewhere },
				},
				request: &request{root: "a", reader: reader{kind: configMaps}}, namespaces: sets.New("a", "b"),
			}
			before, left, err := w.membersAt(t.Context(), "5")
			if !test.want(err) {
				t.Errorf("got the error %v", err)
			}
			if err == nil && (!before.Equal(w.namespaces) || len(left) > 0) {
				t.Errorf("got %v and %v", before, left)
			}
		})
	}
}

// labeled returns an upstream with 40 namespaces of 1 KiB that have the tree label of a. For every second, a is an
// abstract ancestor. The queries of lists are sent to queries.
func labeled(t *testing.T, queries chan<- url.Values) upstream {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		queries <- query
		from, _ := strconv.Atoi(query.Get("continue"))
		limit, err := strconv.Atoi(query.Get("limit"))
		if err != nil {
			limit = 40
		}
		to, next := min(40, from+limit), ""
		if to < 40 {
			next = strconv.Itoa(to)
		}
		var items []string
		for i := from; i < to; i++ {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"n%d","labels":{%q:"1"},"annotations":{"x":%q,%q:%q}}}`,
				i, hnc.TreeLabel("a"), strings.Repeat("x", 1000), hnc.AnnotationAbstractAncestors, []string{"", "a"}[i%2]))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	up, err := newUpstream(&restclient.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func TestNamespacesAtARevisionAreReadInPages(t *testing.T) {
	queries := make(chan url.Values, 4)
	memory := newMemory(24<<10, 24<<10)
	names, err := labeled(t, queries).labeledNamespaces(t.Context(), "a", "5", memory.share("ann", "a"))
	if err != nil || len(names) != 20 || names[0] != "n0" || names[19] != "n38" {
		t.Errorf("got %v, %v", names, err)
	}
	if memory.used != 0 {
		t.Errorf("%d bytes are still taken", memory.used)
	}
	close(queries)
	var got []string
	for query := range queries {
		query.Del("labelSelector")
		got = append(got, query.Encode())
	}
	const exact = "resourceVersion=5&resourceVersionMatch=Exact"
	if want := []string{"limit=100&" + exact, "limit=16&" + exact, "continue=16&limit=16", "continue=32&limit=16"}; !slices.Equal(got, want) {
		t.Errorf("requested %q", got)
	}
}

// One user may start hundreds of watches at the same time.
func TestContinuedWatchesShareTheMemory(t *testing.T) {
	s, h := newHandler(t, &fixedTree{names: []string{"a"}})
	s.grow(5)
	h.memory = newMemory(64<<10, 128<<10)
	h.labeledAt = labeled(t, make(chan url.Values, 1)).labeledNamespaces
	h.otherRevisions = func(schema.GroupVersionResource) bool { return false }
	if err := h.memory.share("ann", "a").take(56 << 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := h.watchAs(ctx, httptest.NewRecorder(), "ann", url.Values{"resourceVersion": {"1"}}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v, want TooManyRequests", err)
	}
}

// A watch from the beginning reads as much as a list.
func TestWatchesThatBeginCountAsLists(t *testing.T) {
	tree := &fixedTree{names: []string{"a"}}
	s, h := newHandler(t, tree)
	s.grow(5)
	h.labeledAt = func(context.Context, string, string, *share) ([]string, error) { return []string{"a"}, nil }
	h.otherRevisions = func(schema.GroupVersionResource) bool { return false }
	ctx, cancel := context.WithCancel(t.Context())
	upstream, _ := h.mux.join(reader{kind: configMaps, output: outputType{accept: runtime.ContentTypeJSON}, memory: h.memory.share("ann", "a")})
	var running sync.WaitGroup
	running.Go(func() { _ = h.watchAs(ctx, httptest.NewRecorder(), "ann", url.Values{}) })
	eventually(t, "2 watchers", func() string {
		h.mux.mu.Lock()
		defer h.mux.mu.Unlock()
		return fmt.Sprint(upstream.watchers, " watchers")
	})
	// Once it has sent all objects, it does not count, even while kube-apiserver has not answered.
	ann := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"})
	if _, err := h.limits["list"].AcquireN(ann, 2); err != nil {
		t.Error(err)
	}
	cancel()
	running.Wait()
	h.mux.leave(upstream)
	watch := func(query url.Values) error {
		query.Set("timeoutSeconds", "1")
		return h.watchAs(t.Context(), httptest.NewRecorder(), "ann", query)
	}
	const minimum = string(metav1.ResourceVersionMatchNotOlderThan)
	tree.held, tree.waiting = make(chan struct{}), make(chan struct{}, 4)
	close(tree.held)
	for _, query := range []url.Values{
		{}, {"resourceVersion": {"0"}}, {"resourceVersion": {"00"}},
		{"resourceVersion": {"5"}, "sendInitialEvents": {"true"}, "resourceVersionMatch": {minimum}, "allowWatchBookmarks": {"true"}},
	} {
		if err := watch(query); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "already has 2 lists") {
			t.Errorf("%v beside the lists of the user: got %v", query, err)
		}
	}
	if len(tree.waiting) > 0 {
		t.Error("rejected watches read the tree")
	}
	tree.held = nil
	for _, query := range []url.Values{{"resourceVersion": {"5"}}, {"sendInitialEvents": {"false"}, "resourceVersionMatch": {minimum}}} {
		if err := watch(query); err != nil {
			t.Errorf("%v, which sends no objects: got %v", query, err)
		}
	}
}

// Decoding thousands of namespaces for each of a hundred watches of a user takes seconds.
func TestFewContinuedWatchesReadNamespacesAtATime(t *testing.T) {
	const watches = 100
	s, h := newHandler(t, &fixedTree{names: []string{"a"}})
	s.grow(5)
	h.limits["watch"] = inflight.New("watches", inflight.Limits{Total: 2 * watches, PerUser: watches}, 1)
	h.otherRevisions = func(schema.GroupVersionResource) bool { return false }
	var reading atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	h.labeledAt = func(ctx context.Context, _, _ string, memory *share) ([]string, error) {
		if memory.user == "eve" {
			reading.Add(1)
			<-ctx.Done()
		}
		return []string{"a"}, ctx.Err()
	}
	var running sync.WaitGroup
	for range watches {
		running.Go(func() { _ = h.watchAs(ctx, httptest.NewRecorder(), "eve", url.Values{"resourceVersion": {"5"}}) })
	}
	eventually(t, "100 waiting", func() string {
		_, waiting := h.continued.of(slotOwner{user: "eve", most: maxSlotsPerUser})
		return fmt.Sprint(waiting, " waiting")
	})
	if n := reading.Load(); n > maxSlotsPerUser {
		t.Errorf("%d watches of a user read namespaces", n)
	}
	if err := h.watchAs(t.Context(), httptest.NewRecorder(), "ann", url.Values{"resourceVersion": {"5"}, "timeoutSeconds": {"1"}}); err != nil {
		t.Errorf("a watch of another user: %v", err)
	}
	cancel()
	running.Wait()
	if len(h.continued.owners) > 0 {
		t.Errorf("slots are taken by %v", h.continued.owners)
	}
}

type shutdownSignal chan struct{}

func (s shutdownSignal) ShuttingDown() <-chan struct{} { return s }

// Others may wait for the seat of a watch that waits for a slot, and the server for its end. Events are lost before it
// could read them.
func TestAWatchThatWaitsForASlotHoldsNothing(t *testing.T) {
	s, h := newHandler(t, &fixedTree{names: []string{"a"}})
	s.grow(5)
	h.otherRevisions = func(schema.GroupVersionResource) bool { return false }
	for i := range maxSlots {
		release, err := h.continued.acquire(t.Context(), h.memory.share(fmt.Sprint(i), fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	seat, stop := utilflowcontrol.NewInitializationSignal(), make(shutdownSignal)
	ctx, cancel := context.WithTimeout(utilflowcontrol.WithInitializationSignal(genericapirequest.WithServerShutdownSignal(t.Context(), stop), seat), 30*time.Second)
	defer cancel()
	var ended error
	var running sync.WaitGroup
	running.Go(func() {
		ended = h.watchAs(ctx, httptest.NewRecorder(), "ann", url.Values{"resourceVersion": {"5"}})
	})
	released := make(chan struct{})
	go func() {
		seat.Wait()
		close(released)
	}()
	select {
	case <-released:
	case <-ctx.Done():
		t.Fatal("the watch holds its seat")
	}
	eventually(t, "1 waiting", func() string {
		_, waiting := h.continued.of(slotOwner{user: "ann", most: maxSlotsPerUser})
		return fmt.Sprint(waiting, " waiting")
	})
	if got := s.watches(); got != "0 open, 0 in all" {
		t.Errorf("upstream watches: %s", got)
	}
	close(stop)
	if running.Wait(); !apierrors.IsTooManyRequests(ended) {
		t.Errorf("got %v, want TooManyRequests", ended)
	}
}

// kube-apiserver labels the APIServices of what it serves, and its users may label others, to say that it does not.
func TestKindsWithOtherRevisions(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, managed := range map[string]string{"v1.": "onstart", "v1.example.com": "true", "v1beta1.hnc.x-k8s.io": "false", "v1.metrics.example.com": ""} {
		service := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if managed != "" {
			service.Labels = map[string]string{hnc.LabelAutoManaged: managed}
		}
		if err := indexer.Add(service); err != nil {
			t.Fatal(err)
		}
	}
	services := cache.NewGenericLister(indexer, hnc.APIServiceResource.GroupResource())
	for gvr, want := range map[schema.GroupVersionResource]bool{
		{Version: "v1", Resource: "secrets"}: false, {Group: "example.com", Version: "v1", Resource: "events"}: false,
		{Group: "hnc.x-k8s.io", Version: "v1beta1", Resource: "hierarchies"}: true, {Group: "metrics.example.com", Version: "v1", Resource: "pods"}: true,
		{Version: "v1", Resource: "events"}: true, {Group: "events.k8s.io", Version: "v1", Resource: "events"}: true, {Group: "unknown", Version: "v1", Resource: "x"}: false,
	} {
		if got := otherRevisions(services, gvr); got != want {
			t.Errorf("%s: got %v", gvr, got)
		}
	}
}
