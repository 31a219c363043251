package serving

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// Users are authenticated and authorized by reviews of kube-apiserver, of which clients of Kubernetes send a limited
// number per second. Whoever can reach the port can ask for any number.
const (
	// maxEntering is how many requests may wait for reviews at the same time, and maxEnteringOfUser how many of one user.
	maxEntering, maxEnteringOfUser = 400, 40
	// reviewTimeout bounds how long a request waits for the review of its permission.
	reviewTimeout = 10 * time.Second
)

// entry bounds the requests that are not authenticated and authorized yet.
type entry struct {
	places *semaphore.Weighted
	users  *inflight.Limiter
}

// newEntry returns one with as many places, and as many of them for one user.
func newEntry(places, ofUser int) *entry {
	return &entry{
		places: semaphore.NewWeighted(int64(places)),
		users:  inflight.New("requests that wait to be authorized", inflight.Limits{Total: places, PerUser: ofUser}, retryAfter),
	}
}

// retryAfter is when a rejected request may be sent again, in seconds.
const retryAfter = 1

type leaveKey struct{}

// bounded rejects requests while too many wait for reviews.
func (e *entry) bounded(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.places.TryAcquire(1) {
			fail(w, r, apierrors.NewTooManyRequests("too many requests wait to be authenticated and authorized; try again later", retryAfter))
			return
		}
		e.inside(handler, w, r, func() { e.places.Release(1) })
	})
}

// shared rejects requests of users who have too many that wait. They are authenticated.
func (e *entry) shared(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		release, err := e.users.Acquire(r.Context())
		if err != nil {
			fail(w, r, err)
			return
		}
		e.inside(handler, w, r, release)
	})
}

// inside serves a request that has a place, which it gives back when it has entered.
func (e *entry) inside(handler http.Handler, w http.ResponseWriter, r *http.Request, release func()) {
	before, _ := r.Context().Value(leaveKey{}).(func())
	leave := sync.OnceFunc(func() {
		release()
		if before != nil {
			before()
		}
	})
	defer leave()
	handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), leaveKey{}, leave)))
}

// fail responds with an error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	responsewriters.ErrorNegotiated(err, scheme.Codecs, schema.GroupVersion{}, w, r)
}

// entered counts a request no more.
func (e *entry) entered(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if leave, ok := r.Context().Value(leaveKey{}).(func()); ok {
			leave()
		}
		handler.ServeHTTP(w, r)
	})
}

// withDeadline bounds how long a request waits for a review.
func withDeadline(reviews authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
		defer cancel()
		return reviews.Authorize(ctx, a)
	})
}

// withoutAnonymous rejects requests without credentials, except for some paths, before anything is reviewed for them.
func withoutAnonymous(handler http.Handler, except []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, ok := request.UserFrom(r.Context()); ok && u.GetName() == user.Anonymous && !slices.Contains(except, r.URL.Path) {
			fail(w, r, apierrors.NewUnauthorized("send credentials"))
			return
		}
		handler.ServeHTTP(w, r)
	})
}
