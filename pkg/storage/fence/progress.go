package fence

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// progress is the revision up to which a feed has told everything.
type progress struct {
	mu       sync.Mutex
	revision int64
	// moved is closed when revision grows.
	moved chan struct{}
}

func newProgress() *progress { return &progress{moved: make(chan struct{})} }

func (p *progress) set(revision int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if revision > p.revision {
		p.revision = revision
		close(p.moved)
		p.moved = make(chan struct{})
	}
}

func (p *progress) get() (int64, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision, p.moved
}

// askAgain is how long to wait for etcd to tell how far a watch is. It does not answer while it has more to tell.
const askAgain = 25 * time.Millisecond

// Catch returns when Feed has told everything that was committed before the call, or with an error when ctx is done first.
func (e *Edges) Catch(ctx context.Context) error {
	now, err := e.client.Get(ctx, edgesPrefix(e.prefix), clientv3.WithKeysOnly())
	if err != nil {
		return fmt.Errorf("cannot read the revision of the tree: %w", err)
	}
	for {
		told, moved := e.progress.get()
		if told >= now.Header.Revision {
			return nil
		}
		if err := e.client.RequestProgress(clientv3.WithRequireLeader(ctx)); err != nil {
			return fmt.Errorf("cannot ask how far the tree has been read: %w", err)
		}
		select {
		case <-moved:
		case <-time.After(askAgain):
		case <-ctx.Done():
			return fmt.Errorf("the tree has been read up to revision %d, not yet to %d: %w", told, now.Header.Revision, ctx.Err())
		}
	}
}
