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
	// Document waits until another document may be read as a whole and changed. Grow counts the bytes that it has so
	// far.
	Document(ctx context.Context) (grow func(bytes int64) error, release func(), err error)
}

// unlimited is the budget of hosts that have one caller.
type unlimited struct{}

func (unlimited) Begin(*http.Request, *request.RequestInfo) (func(), error) { return func() {}, nil }
func (unlimited) Body(context.Context, int64) (func(), error)               { return func() {}, nil }
func (unlimited) Response(context.Context, int64) (func(), error)           { return func() {}, nil }
func (unlimited) Document(context.Context) (func(int64) error, func(), error) {
	return func(int64) error { return nil }, func() {}, nil
}
