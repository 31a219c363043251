package fence

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// progress is the revision up to which ListAndWatch has delivered all changes.
type progress struct {
	mu       sync.Mutex
	revision int64
	// advanced is closed, and replaced, when revision increases, and when a request is answered.
	advanced chan struct{}
	// requested is when the request was sent that is not answered yet, zero if there is none. All that wait share it.
	requested time.Time
}

func newProgress() *progress { return &progress{advanced: make(chan struct{})} }

func (p *progress) set(revision int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if revision > p.revision {
		p.revision = revision
		p.notify()
	}
}

// answer records the answer to a request. Those whose revision it does not reach have to send another one.
func (p *progress) answer(revision int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revision, p.requested = max(revision, p.revision), time.Time{}
	p.notify()
}

// notify closes advanced. The caller holds the lock.
func (p *progress) notify() {
	close(p.advanced)
	p.advanced = make(chan struct{})
}

// request reports whether a request has to be sent now, and expects that the caller sends it: none is under way, or the
// last one has not been answered for progressInterval.
func (p *progress) request(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.requested) < progressInterval {
		return false
	}
	p.requested = now
	return true
}

func (p *progress) get() (int64, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision, p.advanced
}

// progressInterval is the interval of progress requests that are not answered. etcd does not answer them while the
// watch has undelivered events.
const progressInterval = 25 * time.Millisecond

// WaitUntilFresh returns when ListAndWatch has delivered everything that was committed before the call, or fails when
// ctx is done.
func (e *Edges) WaitUntilFresh(ctx context.Context) error {
	now, err := e.client.Get(ctx, edgesPrefix(e.prefix), clientv3.WithKeysOnly())
	if err != nil {
		return fmt.Errorf("cannot read the revision of the tree: %w", err)
	}
	for {
		delivered, advanced := e.progress.get()
		if delivered >= now.Header.Revision {
			return nil
		}
		if e.progress.request(time.Now()) {
			if err := e.client.RequestProgress(e.stream(ctx)); err != nil {
				return fmt.Errorf("cannot request the progress of the watch of edges: %w", err)
			}
		}
		select {
		case <-advanced:
		case <-time.After(progressInterval):
		case <-ctx.Done():
			return fmt.Errorf("the tree has been read up to revision %d, not yet to %d: %w", delivered, now.Header.Revision, ctx.Err())
		}
	}
}
