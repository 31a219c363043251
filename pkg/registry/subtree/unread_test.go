package subtree

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	restclient "k8s.io/client-go/rest"
)

// unread is the response of a client that reads nothing: writes last until their deadline.
type unread struct {
	*httptest.ResponseRecorder

	mu       sync.Mutex
	deadline time.Time
	changed  chan struct{}
	// writing is called by writes, and once at least.
	writing func()
}

func (u *unread) SetWriteDeadline(at time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.deadline = at
	close(u.changed)
	u.changed = make(chan struct{})
	return nil
}

func (u *unread) Write([]byte) (int, error) {
	u.writing()
	for {
		u.mu.Lock()
		deadline, changed := u.deadline, u.changed
		u.mu.Unlock()
		if !deadline.IsZero() && time.Now().After(deadline) {
			return 0, os.ErrDeadlineExceeded
		}
		select {
		case <-changed:
		case <-time.After(time.Until(deadline)):
		}
	}
}

// watchAs watches ConfigMaps in the subtree of the namespace a as a user.
func (h *handler) watchAs(ctx context.Context, w http.ResponseWriter, name string, query url.Values) error {
	info := &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "watch", APIGroup: groupName, Namespace: "a", Resource: "configmaps", Parts: []string{"configmaps"}}
	query.Set("watch", "true")
	ctx = genericapirequest.WithRequestInfo(genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: name}), info)
	return h.serve(w, httptest.NewRequestWithContext(ctx, "GET", "/?"+query.Encode(), nil), info, configMaps)
}

// heap returns the bytes that a garbage collection has found in use.
func heap() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// Each of these watches has its own copy of the events, because it has its own selector or revision.
func TestWatchesThatAreNotReadShareTheMemory(t *testing.T) {
	const watches, events = 20, 7
	for what, query := range map[string]func(i int) url.Values{
		"selectors": func(i int) url.Values {
			return url.Values{"labelSelector": {fmt.Sprintf("a!=%d", i)}, "resourceVersion": {"1"}}
		},
		"revisions": func(int) url.Values { return url.Values{"resourceVersion": {"1"}} },
	} {
		t.Run(what, func(t *testing.T) {
			s, h := newHandler(t, &fixedTree{names: []string{"a"}})
			h.labeledAt = func(context.Context, string, string, *share) ([]string, error) { return []string{"a"}, nil }
			h.otherRevisions = func(schema.GroupVersionResource) bool { return false }
			s.lines = map[int]string{}
			for i := range events {
				s.lines[i+1] = fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"n","resourceVersion":"%d"},"data":{"x":"%s"}}}`, i+1, strings.Repeat("x", 1<<20))
			}
			s.grow(events)
			// The shared watch of those without a selector covers the last revision only.
			_, _, r := newSource(t)
			r.upstream = h.upstream
			ctx, cancel := context.WithCancel(t.Context())
			expect(t, watchFrom(ctx, t, h.mux, r, fmt.Sprint(events-1)), events, events)
			before := heap()
			var running, writing sync.WaitGroup
			var responses []*unread
			for i := range watches {
				writing.Add(1)
				w := &unread{ResponseRecorder: httptest.NewRecorder(), changed: make(chan struct{}), writing: sync.OnceFunc(writing.Done)}
				responses = append(responses, w)
				running.Go(func() {
					defer w.writing() // it may end before its first write
					if err := h.watchAs(ctx, w, "ann", query(i)); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				})
			}
			writing.Wait()
			// A watch that catches up waits for its reader.
			eventually(t, "all are read", func() string {
				h.mux.mu.Lock()
				defer h.mux.mu.Unlock()
				for w := range h.mux.buffers {
					w.mu.Lock()
					waits, position := w.own && w.bytes > readAhead, w.position
					w.mu.Unlock()
					if !waits && position != fmt.Sprint(events) {
						return "read up to " + position
					}
				}
				return "all are read"
			})
			if used := int64(heap() - before); used > 90<<20 {
				t.Errorf("%d MiB are in use", used>>20)
			}
			cancel()
			for _, w := range responses {
				_ = w.SetWriteDeadline(time.Now().Add(-time.Second))
			}
			running.Wait()
			eventually(t, "0 bytes", func() string { return fmt.Sprintf("%d bytes", h.mux.used.Load()) })
		})
	}
}

// An event that a watch handles counts nowhere once it is dropped. Reviews of permissions may take long.
func TestAWatchEndsThatHandlesADroppedEvent(t *testing.T) {
	s, h := newHandler(t, &fixedTree{names: []string{"a"}})
	var waits atomic.Bool
	reviews := make(chan struct{}, 1)
	h.authorizer = authorizer.AuthorizerFunc(func(ctx context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
		if waits.Load() {
			reviews <- struct{}{}
			<-ctx.Done()
			return authorizer.DecisionNoOpinion, "", ctx.Err()
		}
		return authorizer.DecisionAllow, "", nil
	})
	ended := make(chan error, 1)
	go func() { ended <- h.watchAs(t.Context(), httptest.NewRecorder(), "ann", url.Values{}) }()
	eventually(t, "1 open, 1 in all", s.watches)
	waits.Store(true)
	s.padding = strings.Repeat("x", 1<<20)
	s.grow(1)
	<-reviews
	s.grow(10)
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the review continues")
	}
}

// A list that nobody reads ends with its first namespaces.
func TestAWatchReadsNothingForAClientThatIsGone(t *testing.T) {
	names := make([]string, 10*namespaceBatch)
	s, h := newHandler(t, &fixedTree{names: names})
	s.objects = map[string]int{}
	for i := range names {
		names[i] = fmt.Sprint("n", i)
		s.objects[names[i]] = 1
	}
	s.grow(5)
	if err := h.watchAs(t.Context(), gone{httptest.NewRecorder()}, "ann", url.Values{}); err != nil {
		t.Error(err)
	}
	if n := s.reads(); n != namespaceBatch {
		t.Errorf("%d namespaces are read", n)
	}
}

// gone is the response of a client that does not read in time.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// A move may add thousands of namespaces to hundreds of watches. Clients that do not read hold no slot.
func TestFewWatchesReadWhatHasJoinedAtATime(t *testing.T) {
	for what, before := range map[string][]string{"continued": {"a", "b"}, "running": {"a"}} {
		t.Run(what, func(t *testing.T) {
			const watches = 20
			tree := &fixedTree{names: before}
			s, h := newHandler(t, tree)
			s.grow(5)
			s.objects = map[string]int{"b": 1}
			h.labeledAt = func(context.Context, string, string, *share) ([]string, error) { return []string{"a"}, nil }
			h.otherRevisions = func(schema.GroupVersionResource) bool { return false }
			var reading atomic.Int32
			answer := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/b/") {
					reading.Add(1)
					select {
					case <-answer:
					case <-r.Context().Done():
					}
				}
				s.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			var err error
			if h.upstream, err = newUpstream(&restclient.Config{Host: server.URL, QPS: -1}); err != nil {
				t.Fatal(err)
			}
			h.mux.upstream = h.upstream
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			var written atomic.Int32
			var responses []*unread
			for range watches {
				w := &unread{ResponseRecorder: httptest.NewRecorder(), changed: make(chan struct{}), writing: sync.OnceFunc(func() { written.Add(1) })}
				responses = append(responses, w)
				running.Go(func() { _ = h.watchAs(ctx, w, "eve", url.Values{"resourceVersion": {"5"}}) })
			}
			if what == "running" {
				eventually(t, "20 watchers", func() string {
					h.mux.mu.Lock()
					defer h.mux.mu.Unlock()
					for _, upstream := range h.mux.watches {
						return fmt.Sprint(upstream.watchers, " watchers")
					}
					return "no watcher"
				})
				tree.names = []string{"a", "b"}
				h.members.notify()
			}
			eventually(t, "20 waiting, 2 reading", func() string {
				_, waiting := h.continued.of(slotOwner{user: "eve", most: maxSlotsPerUser})
				return fmt.Sprintf("%d waiting, %d reading", waiting, reading.Load())
			})
			close(answer)
			eventually(t, "20 writing", func() string { return fmt.Sprint(written.Load(), " writing") })
			cancel()
			for _, w := range responses {
				_ = w.SetWriteDeadline(time.Now().Add(-time.Second))
			}
			running.Wait()
			if len(h.continued.owners) > 0 {
				t.Errorf("slots are taken by %v", h.continued.owners)
			}
		})
	}
}
