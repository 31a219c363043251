package subtree

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

func TestWatchesShareOneUpstream(t *testing.T) {
	s, h, r := newSource(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s.grow(5)
	first := watchFrom(ctx, t, h, r, "2")
	expect(t, first, 3, 5)
	// A new reader starts at its own revision: a buffered one, the latest, or a future one.
	expect(t, watchFrom(ctx, t, h, r, "3"), 4, 5)
	latest, future := watchFrom(ctx, t, h, r, "5"), watchFrom(ctx, t, h, r, "7")
	s.grow(9)
	expect(t, first, 6, 9)
	expect(t, latest, 6, 9)
	expect(t, future, 8, 9)
	if got := s.watches(); got != "1 open, 1 in all" {
		t.Errorf("upstream watches: %s", got)
	}
	// Another selector has its own upstream watch.
	other := r
	other.query = map[string][]string{"labelSelector": {"a=b"}}
	expect(t, watchFrom(ctx, t, h, other, "8"), 9, 9)
	eventually(t, "2 open, 2 in all", s.watches)
	stop()
	eventually(t, "0 open, 2 in all", s.watches)
	eventually(t, "0 watches, 0 open", func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		return fmt.Sprintf("%d watches, %d open", len(h.watches), h.open)
	})
}

func TestOlderRevisionCatchesUp(t *testing.T) {
	s, h, r := newSource(t)
	s.grow(10)
	first := watchFrom(t.Context(), t, h, r, "8")
	expect(t, first, 9, 10)
	eve := r
	eve.memory = testMemory().share("eve", "a")
	late := watchFrom(t.Context(), t, h, eve, "1")
	// What it reads until then counts for its own user, also while others have opened the shared watch.
	if got := late.source.reader.user(); got != "eve" {
		t.Errorf("the old events count for %s", got)
	}
	expect(t, late, 2, 10)
	// From then on it reads the shared watch.
	eventually(t, "1 open, 2 in all", s.watches)
	s.grow(12)
	expect(t, late, 11, 12)
	expect(t, first, 11, 12)
}

func TestOnlySlowWatchIsDisconnected(t *testing.T) {
	s, h, r := newSource(t)
	s.padding = strings.Repeat("x", 64<<10)
	slow := watchFrom(t.Context(), t, h, r, "0")
	quick := watchFrom(t.Context(), t, h, r, "0")
	const total = 1000 // about 64 MiB, of which 8 MiB are buffered
	for latest := 10; latest <= total; latest += 10 {
		s.grow(latest)
		expect(t, quick, latest-9, latest)
	}
	h.mu.Lock()
	for _, f := range h.watches {
		f.mu.Lock()
		if f.bytes > maxWatchMemory {
			t.Errorf("the watch buffers %d bytes, more than %d", f.bytes, maxWatchMemory)
		}
		f.mu.Unlock()
	}
	h.mu.Unlock()
	for n := 0; ; n++ {
		if _, ok := slow.receive(t); !ok {
			break
		}
		if n == total-1 {
			t.Fatalf("the slow watch got all of %d events, so they were buffered for it", total)
		}
	}
	s.grow(total + 1)
	expect(t, quick, total+1, total+1)
}

func TestSharedWatchResumesWhenUpstreamEnds(t *testing.T) {
	s, h, r := newSource(t)
	s.grow(3)
	events := watchFrom(t.Context(), t, h, r, "0")
	expect(t, events, 1, 3)
	s.mu.Lock()
	ended := s.ended
	s.ended = make(chan struct{})
	s.mu.Unlock()
	close(ended)
	eventually(t, "1 open, 2 in all", s.watches)
	s.grow(5)
	expect(t, events, 4, 5)
}

func TestExpiredRevisionsAreRejected(t *testing.T) {
	s, h, r := newSource(t)
	if _, err := h.watch(t.Context(), r, "-1"); !apierrors.IsResourceExpired(err) {
		t.Errorf("got %v, want Expired", err)
	}
	s.grow(1)
	expect(t, watchFrom(t.Context(), t, h, r, "0"), 1, 1)
	if _, err := h.watch(t.Context(), r, "-1"); !apierrors.IsResourceExpired(err) {
		t.Errorf("beside a shared watch: got %v, want Expired", err)
	}
}

// kube-apiserver may answer an expired revision with an event. Readers of later revisions do not get it.
func TestAnExpiredRevisionEndsNoOtherWatch(t *testing.T) {
	_, h, r := newSource(t)
	w := newSharedWatch(t.Context(), h, r)
	w.start = "1"
	w.add(rawEvent{Type: string(watch.Error)})
	for after, want := range map[string]bool{"1": true, "500": false} {
		f := newFeed(w)
		if !f.read(after) {
			t.Fatalf("revision %s is not covered", after)
		}
		if _, found, open := f.next(t.Context()); found != want || open != want {
			t.Errorf("the reader after revision %s gets the error: %t, want %t", after, found, want)
		}
	}
}

// A watch of metadata reads lists, whose type is another one.
func TestWatchesOfMetadata(t *testing.T) {
	s, h, r := newSource(t)
	r.output.accept += ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	s.grow(3)
	expect(t, watchFrom(t.Context(), t, h, r, "2"), 3, 3)
	if _, err := r.listAt(t.Context(), "a", "3", 0, ""); err != nil {
		t.Error(err)
	}
}

// A watch that ends while its readers wait for it is read by none: it would never cover what they catch up with.
func TestAnEndedWatchIsNotRead(t *testing.T) {
	s, h, r := newSource(t)
	s.grow(3)
	w, _ := h.join(r)
	first := make(chan *feed, 1)
	go func() {
		events, err := h.watch(t.Context(), r, "2")
		if err != nil {
			t.Error(err)
		}
		first <- events
	}()
	eventually(t, "2", func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		return fmt.Sprint(w.watchers)
	})
	w.end()
	close(w.ready)
	one := <-first
	expect(t, one, 3, 3)
	two := watchFrom(t.Context(), t, h, r, "3")
	s.grow(4)
	expect(t, one, 4, 4)
	expect(t, two, 4, 4)
	if got := s.watches(); got != "1 open, 1 in all" {
		t.Errorf("upstream watches: %s", got)
	}
}

// Nobody could share a watch from a future revision.
func TestFutureRevisionsAreRejected(t *testing.T) {
	s, h, r := newSource(t)
	s.grow(3)
	for range 2 {
		if _, err := h.watch(t.Context(), r, "99999999"); !storage.IsTooLargeResourceVersion(err) {
			t.Errorf("got %v, want a resource version that is too large", err)
		}
	}
	// Lists, and watches that begin with one, are rejected, too.
	for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan} {
		if _, err := r.currentRevision(t.Context(), "99999999", match); !storage.IsTooLargeResourceVersion(err) {
			t.Errorf("%q: got %v, want a resource version that is too large", match, err)
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
	h.open = h.limit
	if _, err := h.watch(t.Context(), r, "0"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v, want TooManyRequests", err)
	}
}

// Even a limited list of the whole cluster costs kube-apiserver time in proportion to all objects.
func TestCurrentRevisionDoesNotListTheCluster(t *testing.T) {
	s, _, r := newSource(t)
	s.grow(5)
	head, err := r.currentRevision(t.Context(), "", "")
	if err != nil || head.Metadata.ResourceVersion != "5" {
		t.Errorf("%v, error %v, want revision 5", head, err)
	}
	if s.listed != "/api/v1/namespaces/kube-public/configmaps" {
		t.Errorf("listed %s", s.listed)
	}
}
