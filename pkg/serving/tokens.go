package serving

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// Tokens bounds how many requests wait for reviews of their tokens. Requests without a token, such as
// those that kube-apiserver forwards, do not wait.
type Tokens struct{ places *semaphore.Weighted }

// NewTokens returns Tokens with maxEntering places, as every server has.
func NewTokens() *Tokens { return newTokens(maxEntering) }

func newTokens(places int64) *Tokens { return &Tokens{semaphore.NewWeighted(places)} }

type reviewKey struct{}

// Bounded returns a handler that rejects requests with tokens while too many are reviewed. Authenticator must be in the
// handler.
func (t *Tokens) Bounded(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hasToken(r) {
			handler.ServeHTTP(w, r)
			return
		}
		if !t.places.TryAcquire(1) {
			fail(w, r, apierrors.NewTooManyRequests("too many tokens are being reviewed; try again later", retryAfter))
			return
		}
		ctx := r.Context()
		leave := sync.OnceFunc(func() {
			if ctx.Err() != nil {
				// The review does not end with its request.
				time.AfterFunc(reviewTimeout, func() { t.places.Release(1) })
				return
			}
			t.places.Release(1)
		})
		defer leave()
		handler.ServeHTTP(w, r.WithContext(context.WithValue(ctx, reviewKey{}, leave)))
	})
}

// Authenticator returns an authenticator by which a request leaves its place once it is authenticated.
func (t *Tokens) Authenticator(next authenticator.Request) authenticator.Request {
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		if leave, ok := r.Context().Value(reviewKey{}).(func()); ok {
			defer leave()
		}
		return next.AuthenticateRequest(r)
	})
}
