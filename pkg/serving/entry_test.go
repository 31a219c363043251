package serving

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Whoever has no credentials costs no review.
func TestAnAPIIsNotForAnonymousUsers(t *testing.T) {
	for path, want := range map[string]int{"/apis/x/v1": http.StatusUnauthorized, "/metrics": http.StatusUnauthorized, "/any": http.StatusUnauthorized, "/readyz": http.StatusOK} {
		s := New("test")
		s.API = http.NotFoundHandler()
		if got, body := get(t, s, nil, path); got != want {
			t.Errorf("%s answers %d, want %d: %s", path, got, want, body)
		}
	}
}

// Requests that wait for reviews are limited, and those that are entered do not count.
func TestWaitingForReviewsIsBounded(t *testing.T) {
	e := newEntry(1)
	waiting, serve := make(chan struct{}), make(chan struct{})
	request := func(handler http.Handler) int {
		w := httptest.NewRecorder()
		e.bounded(handler).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		return w.Code
	}
	blocked := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(waiting); <-serve })
	done := make(chan int)
	go func() { done <- request(blocked) }()
	<-waiting
	if got := request(http.NotFoundHandler()); got != http.StatusTooManyRequests {
		t.Errorf("while another one waits: %d", got)
	}
	close(serve)
	<-done
	inner := e.entered(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(request(http.NotFoundHandler())) }))
	if got := request(inner); got != http.StatusNotFound {
		t.Errorf("while another one is served: %d", got)
	}
}

func TestReviewsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := authorizer.AuthorizerFunc(func(ctx context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
			<-ctx.Done()
			return authorizer.DecisionNoOpinion, "", ctx.Err()
		})
		if _, _, err := withDeadline(silent).Authorize(t.Context(), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// The lease is not given away while writes may be on their way.
func TestALeaseIsReleasedAfterTheWork(t *testing.T) {
	finished := make(chan struct{})
	lock := heldLock{&written{}, finished}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Errorf("renewing: %v", err)
	}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err == nil {
		t.Error("the lease is released before the work is finished")
	}
	close(finished)
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
		t.Errorf("releasing: %v", err)
	}
}

// written is a lock that accepts all writes.
type written struct{ resourcelock.Interface }

func (*written) Update(context.Context, resourcelock.LeaderElectionRecord) error { return nil }
