package subtree

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/storage"
	restclient "k8s.io/client-go/rest"
)

// source serves watches of ConfigMaps, of events with the revisions 1, 2, 3 and so on.
type source struct {
	mu      sync.Mutex
	latest  int
	changed chan struct{}
	open    int
	opened  int
	// ended is closed to end all watches.
	ended chan struct{}
	// padding is part of each object.
	padding string
}

func (s *source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[]}`, s.latest)
		return
	}
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil || from < 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`))
		return
	}
	s.mu.Lock()
	s.open++
	s.opened++
	ended := s.ended
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
	}()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		s.mu.Lock()
		latest, changed := s.latest, s.changed
		s.mu.Unlock()
		for ; from < latest; from++ {
			_, _ = fmt.Fprintf(w, `{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"n","resourceVersion":"%d"},"data":{"x":%q}}}`+"\n", from+1, s.padding)
		}
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-ended:
			return
		case <-changed:
		}
	}
}

// grow makes the events up to a revision happen.
func (s *source) grow(latest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = latest
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *source) watches() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d open, %d in all", s.open, s.opened)
}

// newSource returns a source and a hub that reads it.
func newSource(t *testing.T) (*source, *hub, reader) {
	t.Helper()
	s := &source{changed: make(chan struct{}), ended: make(chan struct{})}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	up, err := newUpstream(&restclient.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	k := kind{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, metav1.APIResource{}}
	return s, newHub(up), reader{upstream: up, kind: k, form: form{accept: runtime.ContentTypeJSON}}
}

func watchFrom(ctx context.Context, t *testing.T, h *hub, r reader, from string) <-chan frame {
	t.Helper()
	frames, err := h.watch(ctx, r, from)
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

// expect reads the events from one revision to another.
func expect(t *testing.T, frames <-chan frame, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		select {
		case f, ok := <-frames:
			if !ok || f.id.ResourceVersion != strconv.Itoa(i) || !strings.HasSuffix(string(f.line), "}\n") {
				t.Fatalf("got revision %q (%v), want %d", f.id.ResourceVersion, ok, i)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("revision %d does not come", i)
		}
	}
}

func eventually(t *testing.T, want string, f func() string) {
	t.Helper()
	var got string
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		got = f()
		return got == want, nil
	}); err != nil {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestWatchesShareOneUpstreamFromTheFirstToTheLast(t *testing.T) {
	s, h, r := newSource(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s.grow(5)
	first := watchFrom(ctx, t, h, r, "2")
	expect(t, first, 3, 5)
	// Who joins goes on from its own revision: one that the feed remembers, the latest, or one that is still to come.
	expect(t, watchFrom(ctx, t, h, r, "3"), 4, 5)
	latest, future := watchFrom(ctx, t, h, r, "5"), watchFrom(ctx, t, h, r, "7")
	s.grow(9)
	expect(t, first, 6, 9)
	expect(t, latest, 6, 9)
	expect(t, future, 8, 9)
	if got := s.watches(); got != "1 open, 1 in all" {
		t.Errorf("upstream watches: %s", got)
	}
	// Another selector has a watch of its own.
	other := r
	other.query = map[string][]string{"labelSelector": {"a=b"}}
	expect(t, watchFrom(ctx, t, h, other, "8"), 9, 9)
	eventually(t, "2 open, 2 in all", s.watches)
	stop()
	eventually(t, "0 open, 2 in all", s.watches)
	eventually(t, "0 feeds, 0 opened", func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		return fmt.Sprintf("%d feeds, %d opened", len(h.feeds), h.opened)
	})
}

func TestAnOlderRevisionCatchesUp(t *testing.T) {
	s, h, r := newSource(t)
	s.grow(10)
	feed := watchFrom(t.Context(), t, h, r, "8")
	expect(t, feed, 9, 10)
	late := watchFrom(t.Context(), t, h, r, "1")
	expect(t, late, 2, 10)
	// From then on it reads the feed.
	eventually(t, "1 open, 2 in all", s.watches)
	s.grow(12)
	expect(t, late, 11, 12)
	expect(t, feed, 11, 12)
}

func TestASlowWatchIsCutOffAndOthersAreNot(t *testing.T) {
	s, h, r := newSource(t)
	s.padding = strings.Repeat("x", 64<<10)
	slow := watchFrom(t.Context(), t, h, r, "0")
	quick := watchFrom(t.Context(), t, h, r, "0")
	const events = 1000 // some 64 MiB, of which 8 MiB are remembered
	for latest := 10; latest <= events; latest += 10 {
		s.grow(latest)
		expect(t, quick, latest-9, latest)
	}
	h.mu.Lock()
	for _, f := range h.feeds {
		f.mu.Lock()
		if f.bytes > maxFeedMemory {
			t.Errorf("the feed remembers %d bytes, more than %d", f.bytes, maxFeedMemory)
		}
		f.mu.Unlock()
	}
	h.mu.Unlock()
	for n := 0; ; n++ {
		if _, ok := <-slow; !ok {
			break
		}
		if n == events-1 {
			t.Fatalf("the slow watch got all of %d events, which were remembered for it", events)
		}
	}
	s.grow(events + 1)
	expect(t, quick, events+1, events+1)
}

func TestAFeedGoesOnWhenItsUpstreamEnds(t *testing.T) {
	s, h, r := newSource(t)
	s.grow(3)
	frames := watchFrom(t.Context(), t, h, r, "0")
	expect(t, frames, 1, 3)
	s.mu.Lock()
	ended := s.ended
	s.ended = make(chan struct{})
	s.mu.Unlock()
	close(ended)
	eventually(t, "1 open, 2 in all", s.watches)
	s.grow(5)
	expect(t, frames, 4, 5)
}

func TestARevisionThatIsGoneIsRefused(t *testing.T) {
	s, h, r := newSource(t)
	if _, err := h.watch(t.Context(), r, "-1"); !apierrors.IsResourceExpired(err) {
		t.Errorf("got %v, want Expired", err)
	}
	s.grow(1)
	expect(t, watchFrom(t.Context(), t, h, r, "0"), 1, 1)
	if _, err := h.watch(t.Context(), r, "-1"); !apierrors.IsResourceExpired(err) {
		t.Errorf("beside a feed: got %v, want Expired", err)
	}
}

// A feed from a revision that is still to come would be of no use to anybody else, who would each need a watch of their own.
func TestNobodyOpensAFeedInTheFuture(t *testing.T) {
	s, h, r := newSource(t)
	s.grow(3)
	for range 2 {
		if _, err := h.watch(t.Context(), r, "99999999"); !storage.IsTooLargeResourceVersion(err) {
			t.Errorf("got %v, want a resource version that is too large", err)
		}
	}
	one, two := watchFrom(t.Context(), t, h, r, "3"), watchFrom(t.Context(), t, h, r, "3")
	s.grow(4)
	expect(t, one, 4, 4)
	expect(t, two, 4, 4)
	if got := s.watches(); got != "1 open, 1 in all" {
		t.Errorf("upstream watches: %s", got)
	}
}

func TestUpstreamWatchesAreLimited(t *testing.T) {
	_, h, r := newSource(t)
	h.opened = maxFeeds
	if _, err := h.watch(t.Context(), r, "0"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v, want TooManyRequests", err)
	}
}
