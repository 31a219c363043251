package view

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// Budget bounds what the requests of a view use at the same time. All that it counts is counted until it is released.
// Its errors, API errors, are responses.
type Budget interface {
	// Begin counts a request.
	Begin(r *http.Request, info *request.RequestInfo) (release func(), err error)
	// Body counts bytes of the body of a request, and Response those of a response, that are kept in memory.
	Body(ctx context.Context, bytes int64) (release func(), err error)
	Response(ctx context.Context, bytes int64) (release func(), err error)
	// Answer counts bytes of the response to a write that was sent, for which it waits. Its error has no time after which
	// clients repeat the request by themselves: it may have taken effect.
	Answer(ctx context.Context, bytes int64) (release func(), err error)
	// Document waits until another document may be read as a whole and changed. Grow counts the bytes that it has so
	// far.
	Document(ctx context.Context) (grow func(bytes int64) error, release func(), err error)
}

// MaxPart is how many bytes a request counts at most where Roles become ClusterRoles, or where it reads objects to serve
// a request (reads.go), and as many where names are translated. Each has one object at a time; the largest that
// kube-apiserver stores, with 10 MB of JSON, takes about four times as much. A Budget has room for both, or such an
// object would end all lists and watches that contain it. Requests with a body count as many for decoding it, until it
// has been sent.
const MaxPart = 16 << 20

// reserve returns what counts bytes of the response to a request, for one of its parts.
func (h *Handler) reserve(c *call) func(bytes int64) (release func(), err error) {
	if readVerbs.Has(c.info.Verb) {
		return upToMaxPart(c, h.Budget.Response)
	}
	return upToMaxPart(c, func(ctx context.Context, bytes int64) (func(), error) {
		c.decoded() // It has been sent.
		return h.Budget.Answer(ctx, bytes)
	})
}

// upToMaxPart returns what counts the bytes of one part, for as long as the request of a call lasts.
func upToMaxPart(c *call, count counting) func(bytes int64) (release func(), err error) {
	counted := count.upToMaxPart()
	return func(bytes int64) (func(), error) { return counted(c.r.Context(), bytes) }
}

// counting counts bytes, for which it may wait as long as a context lasts.
type counting func(ctx context.Context, bytes int64) (release func(), err error)

// upToMaxPart returns what counts the bytes of one part. Those above MaxPart must be released before the others.
func (count counting) upToMaxPart() counting {
	var mu sync.Mutex
	left := int64(MaxPart)
	take := func(bytes int64) int64 {
		mu.Lock()
		defer mu.Unlock()
		bytes = min(bytes, left)
		left -= bytes
		return bytes
	}
	return func(ctx context.Context, bytes int64) (func(), error) {
		if bytes = take(bytes); bytes == 0 {
			return func() {}, nil
		}
		release, err := count(ctx, bytes)
		if err != nil {
			take(-bytes)
			return nil, err
		}
		return func() { release(); take(-bytes) }, nil
	}
}

// unlimited is the budget of hosts that have one caller.
type unlimited struct{}

func (unlimited) Begin(*http.Request, *request.RequestInfo) (func(), error) { return func() {}, nil }
func (unlimited) Body(context.Context, int64) (func(), error)               { return func() {}, nil }
func (unlimited) Response(context.Context, int64) (func(), error)           { return func() {}, nil }
func (unlimited) Answer(context.Context, int64) (func(), error)             { return func() {}, nil }
func (unlimited) Document(context.Context) (func(int64) error, func(), error) {
	return func(int64) error { return nil }, func() {}, nil
}
