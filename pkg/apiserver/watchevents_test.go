package apiserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// A watch's buffers are as large as their largest content, until it ends.
func TestEncodersLeaveNothingInTheBuffersOfAWatch(t *testing.T) {
	codecs := served{Codecs}
	encoder := codecs.EncoderForVersion(codecs.SupportedMediaTypes()[0].StreamSerializer.Serializer, v1beta1.SchemeGroupVersion)
	buffer := runtime.NewSpliceBuffer()
	for _, annotation := range []string{strings.Repeat("x", 1<<20), "x"} {
		buffer.Reset()
		if err := encoder.Encode(&hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": annotation}}}, buffer); err != nil {
			t.Fatal(err)
		}
		if encoded := string(buffer.Bytes()); !strings.Contains(encoded, `"a":"`+annotation+`"`) {
			t.Errorf("got %.100s", encoded)
		}
	}
	if size := cap(buffer.Bytes()); size > 64<<10 {
		t.Errorf("a small object is in a buffer of %d bytes", size)
	}
}

// unread is the response of a client that reads nothing of what is large.
type unread struct {
	*httptest.ResponseRecorder
	deadline time.Time
	// all is whether it reads nothing at all.
	all bool
}

func (u *unread) SetWriteDeadline(at time.Time) error { u.deadline = at; return nil }

func (u *unread) Write(p []byte) (int, error) {
	if len(p) <= largeEvent {
		return len(p), nil // buffered
	}
	time.Sleep(time.Until(u.deadline))
	return 0, os.ErrDeadlineExceeded
}

func (u *unread) FlushError() error {
	if !u.all {
		return nil
	}
	time.Sleep(time.Until(u.deadline))
	return os.ErrDeadlineExceeded
}

// largeEvent is one that no server buffers.
const largeEvent = 64 << 10

// watches starts watches of Hierarchies, which write events one by one, and send what Write returns.
func watches(e *watchEvents, namespace, accept string, w http.ResponseWriter, events <-chan int) <-chan error {
	return watchesOf(e, "hierarchies", namespace, accept, w, events)
}

func watchesOf(e *watchEvents, resource, namespace, accept string, w http.ResponseWriter, events <-chan int) <-chan error {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept", accept)
	r = r.WithContext(genericapirequest.WithRequestInfo(r.Context(), &genericapirequest.RequestInfo{APIGroup: hnc.GroupName, Verb: "watch", Namespace: namespace, Resource: resource}))
	results := make(chan error, 100)
	go e.filter(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(results)
		w.WriteHeader(http.StatusOK)
		for size := range events {
			_, err := w.Write([]byte(strings.Repeat("x", size)))
			if err == nil {
				_ = http.NewResponseController(w).Flush()
			}
			results <- err
		}
	})).ServeHTTP(w, r)
	return results
}

func newTestWatchEvents() *watchEvents {
	e := newWatchEvents()
	e.largest = func(string, string) int { return 0 }
	e.root = func(namespace string) string { root, _, _ := strings.Cut(namespace, "."); return root }
	return e
}

// Events that nobody reads fill a bounded part of the memory, for a bounded time.
func TestLargeEventsThatNobodyReadsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newTestWatchEvents()
		const event = 2 << 20
		write := func(namespace string, size int) <-chan error {
			events := make(chan int, 1)
			events <- size
			close(events)
			return watches(e, namespace, "application/json", &unread{ResponseRecorder: httptest.NewRecorder()}, events)
		}
		var held []<-chan error
		for range eventShare / (2 * event) {
			held = append(held, write("a.b", event))
		}
		synctest.Wait()
		for what, c := range map[string]struct {
			namespace string
			size      int
			want      string
		}{
			"another large event of the namespace": {"a.b", event, `tree "a" already has`},
			"another large event of the tree":      {"a", event, `tree "a" already has`},
			"a small event":                        {"a.b", largeEvent, ""},
			"a watch of all namespaces":            {"", event, os.ErrDeadlineExceeded.Error()},
		} {
			if err := <-write(c.namespace, c.size); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: got %v, want %q", what, err, c.want)
			}
		}
		held = append(held, write("b", event))
		endUnread(t, held)
		last := write("a.b", event)
		synctest.Wait()
		if len(last) > 0 {
			t.Errorf("after the others have ended: got %v", <-last)
		}
		time.Sleep(readWithin)
	})
}

// endUnread expects that watches wait until their clients have had the time to read.
func endUnread(t *testing.T, watches []<-chan error) {
	t.Helper()
	synctest.Wait()
	for i, results := range watches {
		if len(results) > 0 {
			t.Errorf("watch %d has not waited: %v", i, <-results)
		}
	}
	time.Sleep(readWithin)
	synctest.Wait()
	for i, results := range watches {
		if len(results) == 0 || !errors.Is(<-results, os.ErrDeadlineExceeded) {
			t.Errorf("watch %d waits for longer than %s, or has another error", i, readWithin)
		}
	}
}

// Everybody may watch mynamespaces, which are in no tree.
func TestWatchesOfMynamespacesThatNobodyReadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newTestWatchEvents()
		const event = 2 << 20
		var all []<-chan error
		for range eventShare / event {
			events := make(chan int, 1)
			events <- event
			close(events)
			all = append(all, watchesOf(e, "mynamespaces", "", "application/json", &unread{ResponseRecorder: httptest.NewRecorder()}, events))
		}
		endUnread(t, all)
	})
}

// The encoders of tables and metadata are those of Kubernetes, whose buffers a watch keeps.
func TestWatchesOfTablesKeepTheirShare(t *testing.T) {
	for accept, keeps := range map[string]bool{"application/json, */*": false, "application/json;as=Table;v=v1;g=meta.k8s.io": true} {
		e := newTestWatchEvents()
		const event = 2 << 20
		for i := range keptShare / (2 * event) {
			events := make(chan int)
			defer close(events)
			results := watches(e, "a", accept, httptest.NewRecorder(), events)
			for range 2 {
				events <- event
				if err := <-results; err != nil {
					t.Fatalf("watch %d: %v", i, err)
				}
			}
		}
		last := make(chan int, 1)
		last <- event
		close(last)
		if err := <-watches(e, "a", accept, httptest.NewRecorder(), last); (err != nil) != keeps {
			t.Errorf("%s, one watch too many: %v", accept, err)
		}
	}
}

func TestWatchesByWebsocketAreRejected(t *testing.T) {
	for _, info := range []genericapirequest.RequestInfo{{Namespace: "a", Resource: "hierarchies"}, {Resource: "mynamespaces"}} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		info.APIGroup, info.Verb = hnc.GroupName, "watch"
		newTestWatchEvents().filter(http.NotFoundHandler()).ServeHTTP(w, r.WithContext(genericapirequest.WithRequestInfo(r.Context(), &info)))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "without the header Upgrade") {
			t.Errorf("%s: got %d, %s", info.Resource, w.Code, w.Body)
		}
	}
}

// Behind an unread event, a watch has copies of the next objects, or of what they were. A small event is buffered, so
// that only flushing it waits.
func TestUnreadEventsAreLimitedWithTheQueueBehindThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newTestWatchEvents()
		e.largest = func(string, string) int { return (eventShare/2 - 10_000) / queued }
		small := func() <-chan error {
			events := make(chan int, 1)
			events <- 1000
			close(events)
			return watches(e, "a", "application/json", &unread{ResponseRecorder: httptest.NewRecorder(), all: true}, events)
		}
		first := []<-chan error{small(), small()}
		synctest.Wait()
		if err := <-small(); err == nil || !strings.Contains(err.Error(), `tree "a" already has`) {
			t.Errorf("a third watch: got %v", err)
		}
		for i, results := range first {
			if len(results) > 0 {
				t.Errorf("watch %d has not waited: %v", i, <-results)
			}
		}
		time.Sleep(readWithin)
		synctest.Wait()
		for i, results := range first {
			if len(results) == 0 {
				t.Errorf("watch %d waits for longer than %s", i, readWithin)
			}
		}
		// What is written is not in the queue any more, so that the next event is small.
		events := make(chan int, 1)
		defer close(events)
		slow := &unread{ResponseRecorder: httptest.NewRecorder()}
		results := watches(e, "a", "application/json", slow, events)
		for range eventShare / largeEvent {
			events <- largeEvent
			if err := <-results; err != nil {
				t.Fatal(err)
			}
		}
		slow.all = true
		events <- 1000
		first = []<-chan error{small(), small()}
		synctest.Wait()
		for i, results := range first {
			if len(results) > 0 {
				t.Errorf("watch %d beside it: %v", i, <-results)
			}
		}
		time.Sleep(readWithin)
	})
}
