package view

import (
	"context"
	"net/http"

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
	// Answer counts bytes of the response to a write, for which it waits. Its error has no time after which clients
	// repeat the request by themselves: it may have taken effect.
	Answer(ctx context.Context, bytes int64) (release func(), err error)
	// Document waits until another document may be read as a whole and changed. Grow counts the bytes that it has so
	// far.
	Document(ctx context.Context) (grow func(bytes int64) error, release func(), err error)
}

// reserve returns what counts bytes of the response to a request.
func (h *Handler) reserve(c *call) func(bytes int64) (release func(), err error) {
	count := h.Budget.Response
	if !readVerbs.Has(c.info.Verb) {
		count = h.Budget.Answer
	}
	return func(bytes int64) (func(), error) { return count(c.r.Context(), bytes) }
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
