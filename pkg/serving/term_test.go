package serving

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const identity = "a"

// lease is a lock that always succeeds, unless it fails, and takes some time.
type lease struct {
	resourcelock.Interface
	fail error
	took func()
}

func (l *lease) Identity() string { return identity }
func (l *lease) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	l.took()
	return l.fail
}

// testTerm returns a term of 10 s, the lock that renews it, and the clock that it reads.
func testTerm() (*Term, *lease, resourcelock.Interface, *instant) {
	election := LeaderElection("test")
	term := NewTerm(&election)
	clock := &instant{wall: time.Unix(1_000_000, 0)}
	term.now = func() instant { return *clock }
	l := &lease{took: func() {}}
	return term, l, term.lock(l), clock
}

func pass(clock *instant, monotonic, wall time.Duration) {
	clock.monotonic += monotonic
	clock.wall = clock.wall.Add(wall)
}

func TestATermEndsBeforeAnotherReplicaCanTakeOver(t *testing.T) {
	held, released := resourcelock.LeaderElectionRecord{HolderIdentity: identity}, resourcelock.LeaderElectionRecord{}
	for name, c := range map[string]struct {
		steps func(t *testing.T, l *lease, lock resourcelock.Interface, clock *instant)
		ended bool
	}{
		"never held": {func(*testing.T, *lease, resourcelock.Interface, *instant) {}, true},
		"held": {func(t *testing.T, _ *lease, lock resourcelock.Interface, clock *instant) {
			_ = lock.Update(t.Context(), held)
			pass(clock, 9*time.Second, 9*time.Second)
		}, false},
		"expired": {func(t *testing.T, _ *lease, lock resourcelock.Interface, clock *instant) {
			_ = lock.Update(t.Context(), held)
			pass(clock, 10*time.Second, 10*time.Second)
		}, true},
		"renewed": {func(t *testing.T, _ *lease, lock resourcelock.Interface, clock *instant) {
			_ = lock.Update(t.Context(), held)
			pass(clock, 20*time.Second, 20*time.Second)
			_ = lock.Update(t.Context(), held)
		}, false},
		"the renewal failed": {func(t *testing.T, l *lease, lock resourcelock.Interface, clock *instant) {
			_ = lock.Update(t.Context(), held)
			pass(clock, 10*time.Second, 10*time.Second)
			l.fail = errors.New("conflict")
			_ = lock.Update(t.Context(), held)
		}, true},
		"the response to the renewal came late": {func(t *testing.T, l *lease, lock resourcelock.Interface, clock *instant) {
			l.took = func() { pass(clock, 10*time.Second, 10*time.Second) }
			_ = lock.Update(t.Context(), held)
		}, true},
		"the machine was suspended": {func(t *testing.T, _ *lease, lock resourcelock.Interface, clock *instant) {
			_ = lock.Update(t.Context(), held)
			pass(clock, time.Second, 10*time.Second)
		}, true},
		"the clock was set back": {func(t *testing.T, _ *lease, lock resourcelock.Interface, clock *instant) {
			_ = lock.Update(t.Context(), held)
			pass(clock, 10*time.Second, -time.Hour)
		}, true},
		"released": {func(t *testing.T, _ *lease, lock resourcelock.Interface, _ *instant) {
			_ = lock.Update(t.Context(), held)
			_ = lock.Update(t.Context(), released)
		}, true},
		"the release failed": {func(t *testing.T, l *lease, lock resourcelock.Interface, _ *instant) {
			_ = lock.Update(t.Context(), held)
			l.fail = errors.New("no answer")
			_ = lock.Update(t.Context(), released)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			term, l, lock, clock := testTerm()
			c.steps(t, l, lock, clock)
			if err := term.Err(); (err != nil) != c.ended {
				t.Errorf("got %v, want an error: %t", err, c.ended)
			}
		})
	}
}

// slowBody ends the term while a request is being sent.
type slowBody struct {
	io.Reader
	read func()
}

func (b slowBody) Read(p []byte) (int, error) {
	b.read()
	return b.Reader.Read(p)
}

func TestNothingIsSentAfterTheTerm(t *testing.T) {
	var received atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// A server executes complete requests only.
		if body, err := io.ReadAll(r.Body); r.Method != http.MethodGet && err == nil && string(body) == "body" {
			received.Add(1)
		}
	}))
	defer server.Close()
	term, _, lock, clock := testTerm()
	restricted, err := term.Restrict(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(restricted)
	if err != nil {
		t.Fatal(err)
	}
	send := func(method string, body io.Reader) error {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	write := func(read func()) error { return send(http.MethodPost, slowBody{strings.NewReader("body"), read}) }

	if err := write(func() {}); !errors.Is(err, ErrNotLeading) {
		t.Errorf("a standby writes: %v", err)
	}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: identity}); err != nil {
		t.Fatal(err)
	}
	if err := write(func() {}); err != nil || received.Load() != 1 {
		t.Fatalf("a leader does not write: %v, received: %d", err, received.Load())
	}
	expire := func() { pass(clock, 10*time.Second, 10*time.Second) }
	if err := write(expire); err == nil || received.Load() != 1 {
		t.Errorf("a write that began during the term was sent after it: %v, received: %d", err, received.Load())
	}
	if err := write(func() {}); !errors.Is(err, ErrNotLeading) || received.Load() != 1 {
		t.Errorf("a previous leader writes: %v", err)
	}
	if err := send(http.MethodGet, nil); err != nil {
		t.Errorf("a previous leader does not read: %v", err)
	}
}
