package fence

import (
	"context"
	"net/http"
	"sync"

	"go.etcd.io/etcd/client/v3/kubernetes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Batch commits the writes of several requests after all of them have been evaluated. Each request runs as usual, with everything that the registry does
// before a write, until its write reaches etcd: there it waits until Commit writes it, or Abandon ends it.
type Batch struct {
	client *guardedClient

	mu     sync.Mutex
	closed bool
	writes []*Write
	// edges and records hold the revisions of the edges and records that this batch has written, 0 for those that it has deleted.
	edges, records map[string]int64
}

// Write is the write of one request of a Batch.
type Write struct {
	batch *Batch
	// waiting is closed when the write waits for the batch, done when its request has ended.
	waiting, done chan struct{}
	// outcome receives the result of the transaction.
	outcome chan outcome

	mu     sync.Mutex
	guard  *holder
	parked *parked
}

// parked is a write that waits for its transaction.
type parked struct {
	key      string
	value    []byte
	expected int64
	options  kubernetes.PutOptions
	guard    *Guard
}

type outcome struct {
	response kubernetes.PutResponse
	err      error
}

// NewBatch returns an empty batch for the writes that go through the client.
func (c *Client) NewBatch() *Batch {
	guarded := c.client.Kubernetes.(*guardedClient)
	return &Batch{client: guarded, edges: map[string]int64{}, records: map[string]int64{}}
}

// errAbandoned ends requests whose batch is not committed. It is no conflict, because those are tried again.
var errAbandoned = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusFailedDependency, Reason: "FailedDependency",
	Message: "nothing was written, because other writes of the same request were not possible",
}}

type writeKey struct{}

func writeFrom(ctx context.Context) *Write {
	w, _ := ctx.Value(writeKey{}).(*Write)
	return w
}

// Do runs a request, which may write one object, and returns when its write waits for Commit or when the request has ended. run must pass its context
// on to the write. Requests of one batch must not run at the same time.
func (b *Batch) Do(ctx context.Context, run func(ctx context.Context)) *Write {
	w := &Write{batch: b, waiting: make(chan struct{}), done: make(chan struct{}), outcome: make(chan outcome, 1)}
	b.mu.Lock()
	b.writes = append(b.writes, w)
	b.mu.Unlock()
	go func() {
		defer close(w.done)
		run(context.WithValue(ctx, writeKey{}, w))
	}()
	select {
	case <-w.waiting:
	case <-w.done:
	}
	return w
}

// Waits reports whether the write waits for its transaction.
func (w *Write) Waits() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.parked != nil
}

// Done returns when the request of the write has ended.
func (w *Write) Done() { <-w.done }

// Guard returns the guard that the request has set last, nil if it has set none.
func (w *Write) Guard() *Guard {
	w.mu.Lock()
	h := w.guard
	w.mu.Unlock()
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.guard
}

// park makes a put wait for its transaction. A request that writes again after its write has waited is abandoned.
func (w *Write) park(ctx context.Context, key string, value []byte, expected int64, options kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	w.mu.Lock()
	if w.parked != nil || w.batch.isClosed() {
		w.mu.Unlock()
		return kubernetes.PutResponse{}, errAbandoned
	}
	w.parked = &parked{key: key, value: value, expected: expected, options: options, guard: guardFrom(ctx)}
	w.mu.Unlock()
	close(w.waiting)
	select {
	case result := <-w.outcome:
		return result.response, result.err
	case <-ctx.Done():
		return kubernetes.PutResponse{}, ctx.Err()
	}
}

func (b *Batch) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// Abandon ends all requests whose writes have not been committed, and returns when they have ended. Further writes of the batch fail.
func (b *Batch) Abandon() {
	b.mu.Lock()
	b.closed = true
	writes := b.writes
	b.mu.Unlock()
	for _, w := range writes {
		w.end(outcome{err: errAbandoned})
		w.Done()
	}
}

// end delivers the result of a write that has none yet.
func (w *Write) end(result outcome) {
	select {
	case w.outcome <- result:
	default:
	}
}
