package subtree

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	restclient "k8s.io/client-go/rest"
)

var configMaps = kind{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, metav1.APIResource{}, 0}

func testMemory() *memory { return newMemory(maxListMemory, maxListsMemory) }

// source serves watches of ConfigMaps with events at the revisions 1, 2, 3 and so on.
type source struct {
	mu      sync.Mutex
	latest  int
	changed chan struct{}
	open    int
	opened  int
	// listed is the path of the last list.
	listed string
	// ended is closed to end all watches.
	ended chan struct{}
	// lines are the events at revisions that have no others.
	lines map[int]string
	// padding is part of each object.
	padding string
	// objects are the numbers of objects in namespaces.
	objects map[string]int
	// lists counts the lists of these.
	lists int
}

// reads returns how many lists there were.
func (s *source) reads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists
}

// page returns the objects of a list, and the token for those that follow.
func (s *source) page(r *http.Request) (items []string, next string) {
	namespace := strings.Split(r.URL.Path, "/")[4]
	number := s.objects[namespace]
	if number > 0 {
		s.lists++
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to := number
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && from+limit < to {
		to = from + limit
		next = strconv.Itoa(to)
	}
	padding := s.padding
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList;") {
		padding = ""
	}
	for i := from; i < to; i++ {
		items = append(items, fmt.Sprintf(`{"metadata":{"namespace":%q,"name":"%d","resourceVersion":"1"},"data":{"x":%q}}`, namespace, i, padding))
	}
	return items, next
}

func (s *source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listed = r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata;") {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"you requested PartialObjectMetadata, but the requested object is a list","code":500}`))
			return
		}
		items, next := s.page(r)
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d","continue":%q},"items":[%s]}`,
			s.latest, next, strings.Join(items, ","))
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
			if line := s.lines[from+1]; line != "" {
				_, _ = io.WriteString(w, line)
				_, _ = io.WriteString(w, "\n")
				continue
			}
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

// grow adds events up to a revision.
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

// newSource returns a source and a watchMux that reads it.
func newSource(t *testing.T) (*source, *watchMux, reader) {
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
	return s, newWatchMux(up, 200), reader{upstream: up, kind: configMaps, output: outputType{accept: runtime.ContentTypeJSON}, memory: testMemory().share("ann", "a")}
}

func watchFrom(ctx context.Context, t *testing.T, h *watchMux, r reader, from string) *feed {
	t.Helper()
	events, err := h.watch(ctx, r, from)
	if err != nil {
		t.Fatal(err)
	}
	context.AfterFunc(ctx, events.leave)
	return events
}

// receive returns the next event, and false at the end of the watch.
func (f *feed) receive(t *testing.T) (rawEvent, bool) {
	t.Helper()
	for timeout := time.After(30 * time.Second); ; {
		select {
		case <-f.more():
		case <-timeout:
			t.Fatal("no event arrives")
		}
		if e, found, open := f.next(t.Context()); found || !open {
			return e, open
		}
	}
}

// expect reads the events from one revision to another.
func expect(t *testing.T, events *feed, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		f, ok := events.receive(t)
		if !ok || f.meta.ResourceVersion != strconv.Itoa(i) || !strings.HasSuffix(string(f.line), "}\n") {
			t.Fatalf("got revision %q (%v), want %d", f.meta.ResourceVersion, ok, i)
		}
	}
	events.more() // the last one is handled
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
