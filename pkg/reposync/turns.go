package reposync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

const (
	// turnLimit is how long one repository may be unpacked, parsed or compiled.
	turnLimit = 3 * time.Minute
	// turnRest is for how many times as long as a turn has taken a namespace comes after others. Several turns add up to
	// that of the longest one.
	turnRest = 10
)

// turns are those of repositories that are unpacked, parsed or compiled, one at a time: that takes more memory than what is left of
// them afterwards.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []*turn
	// rests are until when namespaces of ServiceAccounts come after others. The author of a commit decides how long its turns
	// take, and may be allowed to impersonate any ServiceAccount of a namespace.
	rests map[string]time.Time
}

// turn is one that has not begun.
type turn struct {
	namespace string
	begins    chan struct{}
}

// loading are the turns of all workers.
var loading = turns{rests: map[string]time.Time{}}

// inTurn calls f when no other repository is in turn, with a context that ends after turnLimit, with a
// report.Error as its cause. The namespace is that of its ServiceAccount.
func inTurn(ctx context.Context, namespace string, f func(context.Context) error) error {
	if err := loading.begin(ctx, namespace); err != nil {
		return err
	}
	began := time.Now()
	defer func() { loading.end(namespace, time.Since(began)) }()
	ctx, end := context.WithTimeoutCause(ctx, turnLimit, &report.Error{
		Code: report.LimitExceeded, Paths: []string{"."}, Message: fmt.Sprintf("it takes more than %s to unpack, parse or compile the repository; split it", turnLimit),
	})
	defer end()
	return f(ctx)
}

// begin returns when it is the turn of a namespace, or when the context ends.
func (t *turns) begin(ctx context.Context, namespace string) error {
	own := &turn{namespace, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, own)
	if !t.taken {
		t.next()
	}
	t.mu.Unlock()
	select {
	case <-own.begins:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(t.waiting, own); at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
	} else {
		t.next()
	}
	return context.Cause(ctx)
}

// end ends the turn of a namespace.
func (t *turns) end(namespace string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(t.rests, func(_ string, until time.Time) bool { return !until.After(now) })
	rest := max(0, t.rests[namespace].Sub(now))
	t.rests[namespace] = now.Add(min(rest+turnRest*took, turnRest*turnLimit))
	t.next()
}

// next begins the turn of the first namespace that does not rest, or else of the first. The caller holds the lock.
func (t *turns) next() {
	t.taken = len(t.waiting) > 0
	if !t.taken {
		return
	}
	at := max(0, slices.IndexFunc(t.waiting, func(w *turn) bool { return !t.rests[w.namespace].After(time.Now()) }))
	close(t.waiting[at].begins)
	t.waiting = slices.Delete(t.waiting, at, at+1)
}
