package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// Limits of the bytes that are in memory at the same time, of one view and of all views. A response can have an object
// twice, with its translation, or a document.
const (
	maxViewBodies    = 16 << 20
	maxBodies        = 192 << 20
	maxViewResponses = 64 << 20
	maxResponses     = 256 << 20
)

// Documents that are read as a whole and changed at the same time: how many a view has, and the bytes of all, which
// take several times this size. The size of a document is not known before it is read: it counts as minDocument at
// first.
const (
	maxViewDocuments = 2
	maxDocuments     = 64 << 20
	minDocument      = 8 << 20
)

// shared is the part of the budget that all views share.
type shared struct {
	streams, bodies, responses, documents *semaphore.Weighted
	metrics                               *Metrics
}

func newShared(limits Limits, m *Metrics) *shared {
	return &shared{
		streams: semaphore.NewWeighted(int64(limits.AllStreams)), bodies: semaphore.NewWeighted(maxBodies),
		responses: semaphore.NewWeighted(maxResponses), documents: semaphore.NewWeighted(maxDocuments), metrics: m,
	}
}

// budget bounds the requests of one view. One user can have half of it.
type budget struct {
	requests                   *inflight.Limiter
	streams, bodies, responses counted
	documents                  [2]*semaphore.Weighted // of the view, and of all
	metrics                    *Metrics
}

func newBudget(limits Limits, all *shared) *budget {
	limiter := func(what string, total int) *inflight.Limiter {
		return inflight.New(what, inflight.Limits{Total: total, PerUser: half(total)}, retryAfter)
	}
	return &budget{
		requests:  limiter("requests of this view", limits.Requests),
		streams:   counted{limiter("watches and streams of this view", limits.Streams), all.streams, "there are too many watches and streams of all views together", 1},
		bodies:    counted{limiter("bytes in the bodies of this view's requests", maxViewBodies), all.bodies, inMemory, half(maxViewBodies)},
		responses: counted{limiter("bytes in the responses of this view", maxViewResponses), all.responses, inMemory, half(maxViewResponses)},
		documents: [2]*semaphore.Weighted{semaphore.NewWeighted(maxViewDocuments), all.documents},
		metrics:   all.metrics,
	}
}

const inMemory = "the requests of all views have too many bytes in memory together"

// half is what one user can have of a total.
func half(total int) int { return (total + 1) / 2 }

// Begin implements view.Budget. It fails with TooManyRequests, as Body and Response do.
func (b *budget) Begin(r *http.Request, info *request.RequestInfo) (release func(), err error) {
	limit, stream := "requests", view.IsStream(r, info)
	if stream {
		limit = "streams"
		release, err = b.streams.reserve(r.Context(), 1)
	} else {
		release, err = b.requests.Acquire(r.Context())
	}
	if err != nil {
		b.metrics.rejected(limit, err)
		return nil, err
	}
	return b.metrics.begin(info.Verb, stream, release), nil
}

// Body implements view.Budget.
func (b *budget) Body(ctx context.Context, bytes int64) (release func(), err error) {
	release, err = b.bodies.reserve(ctx, bytes)
	b.metrics.rejected("bodies", err)
	return release, err
}

// Response implements view.Budget.
func (b *budget) Response(ctx context.Context, bytes int64) (release func(), err error) {
	release, err = b.responses.reserve(ctx, bytes)
	b.metrics.rejected("responses", err)
	return release, err
}

// maxWait is how long the response to a write waits until it may be in memory.
const maxWait = 10 * time.Second

// Answer implements view.Budget. It fails with Timeout.
func (b *budget) Answer(ctx context.Context, bytes int64) (release func(), err error) {
	waited := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, maxWait, true, func(context.Context) (bool, error) {
		release, err = b.responses.reserve(ctx, bytes)
		return err == nil, nil
	})
	if waited == nil {
		return release, nil
	}
	if !errors.Is(waited, context.Canceled) { // or the client has left
		b.metrics.rejected("responses", waited)
	}
	return nil, apierrors.NewTimeoutError("the request may have taken effect, and its response is too large for now; get the object again", 0)
}

// Document implements view.Budget. Views wait for their own documents before they wait for those of others. What
// exceeds minDocument does not wait, because documents that wait for each other would do so forever.
func (b *budget) Document(ctx context.Context) (grow func(bytes int64) error, release func(), err error) {
	ofView, all := b.documents[0], b.documents[1]
	if err := ofView.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	size := int64(minDocument)
	if err := all.Acquire(ctx, size); err != nil {
		ofView.Release(1)
		return nil, nil, err
	}
	grow = func(bytes int64) error {
		if bytes <= size {
			return nil
		}
		if !all.TryAcquire(bytes - size) {
			err := apierrors.NewTooManyRequests("the documents of all views have too many bytes in memory together; try again later", retryAfter)
			b.metrics.rejected("documents", err)
			return err
		}
		size = bytes
		return nil
	}
	return grow, func() { all.Release(size); ofView.Release(1) }, nil
}

// counted is what is counted of one view and of all views, such as bytes. exceeded says that all views have too much.
// What has more than most counts as most, or it could never be served. Responses have up to twice view.MaxPart, which
// is no more than their most.
type counted struct {
	view     *inflight.Limiter
	all      *semaphore.Weighted
	exceeded string
	most     int
}

func (c counted) reserve(ctx context.Context, n int64) (release func(), err error) {
	n = min(n, int64(c.most))
	ofView, err := c.view.AcquireN(ctx, int(n))
	if err != nil {
		return nil, err
	}
	if !c.all.TryAcquire(n) {
		ofView()
		return nil, apierrors.NewTooManyRequests(c.exceeded+"; try again later", retryAfter)
	}
	return func() { ofView(); c.all.Release(n) }, nil
}
