package reposync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

const (
	// turnLimit is how long one repository may be unpacked, parsed or compiled.
	turnLimit = 3 * time.Minute
	// turnRest is for how many times as long as a turn has taken a ServiceAccount and its namespace come after others. Several
	// turns add up to that of the longest one.
	turnRest = 10
)

// turns are those of repositories that are unpacked, parsed or compiled, one at a time: that takes more memory than what is left of
// them afterwards.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []*turn
	// rests are until when ServiceAccounts, and their namespaces, which have no name here, come after others. The author of a
	// commit decides how long its turns take, and may be allowed to impersonate any ServiceAccount of a namespace; or all
	// repositories have one namespace.
	rests map[v1alpha3.ServiceAccountReference]time.Time
}

// turn is one that has not begun.
type turn struct {
	account v1alpha3.ServiceAccountReference
	begins  chan struct{}
}

// loading are the turns of all workers.
var loading = turns{rests: map[v1alpha3.ServiceAccountReference]time.Time{}}

// inTurn calls f when no other repository is in turn, with a context that ends after turnLimit, with a
// report.Error as its cause. The ServiceAccount is that of the RepositorySync.
func inTurn(ctx context.Context, account v1alpha3.ServiceAccountReference, f func(context.Context) error) error {
	if err := loading.begin(ctx, account); err != nil {
		return err
	}
	began := time.Now()
	defer func() { loading.end(account, time.Since(began)) }()
	ctx, end := context.WithTimeoutCause(ctx, turnLimit, &report.Error{
		Code: report.LimitExceeded, Paths: []string{"."}, Message: fmt.Sprintf("it takes more than %s to unpack, parse or compile the repository; split it", turnLimit),
	})
	defer end()
	return f(ctx)
}

// begin returns when it is the turn of a ServiceAccount, or when the context ends.
func (t *turns) begin(ctx context.Context, account v1alpha3.ServiceAccountReference) error {
	own := &turn{account, make(chan struct{})}
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

// namespaceOf returns the key of the namespace of a ServiceAccount in rests.
func namespaceOf(account v1alpha3.ServiceAccountReference) v1alpha3.ServiceAccountReference {
	return v1alpha3.ServiceAccountReference{Namespace: account.Namespace}
}

// end ends the turn of a ServiceAccount.
func (t *turns) end(account v1alpha3.ServiceAccountReference, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(t.rests, func(_ v1alpha3.ServiceAccountReference, until time.Time) bool { return !until.After(now) })
	for _, key := range []v1alpha3.ServiceAccountReference{account, namespaceOf(account)} {
		rest := max(0, t.rests[key].Sub(now))
		t.rests[key] = now.Add(min(rest+turnRest*took, turnRest*turnLimit))
	}
	t.next()
}

// next begins the turn of the first whose namespace does not rest, or else of the first that does not, or else of the first.
// The caller holds the lock.
func (t *turns) next() {
	t.taken = len(t.waiting) > 0
	if !t.taken {
		return
	}
	now := time.Now()
	at := slices.IndexFunc(t.waiting, func(w *turn) bool { return !t.rests[namespaceOf(w.account)].After(now) })
	if at < 0 {
		at = max(0, slices.IndexFunc(t.waiting, func(w *turn) bool { return !t.rests[w.account].After(now) }))
	}
	close(t.waiting[at].begins)
	t.waiting = slices.Delete(t.waiting, at, at+1)
}
