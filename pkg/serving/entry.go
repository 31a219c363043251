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
)

// Users are authenticated and authorized by reviews of kube-apiserver, of which clients of Kubernetes send a limited
// number per second. Whoever can reach the port can ask for any number.
const (
	// maxEntering is how many requests may wait for reviews at the same time.
	maxEntering = 400
	// reviewTimeout bounds how long a request waits for the review of its permission.
	reviewTimeout = 10 * time.Second
)

// entry bounds the requests that are not authenticated and authorized yet.
type entry struct{ places *semaphore.Weighted }

func newEntry(places int64) *entry { return &entry{semaphore.NewWeighted(places)} }

type leaveKey struct{}

// bounded rejects requests while too many wait for reviews.
func (e *entry) bounded(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.places.TryAcquire(1) {
			err := apierrors.NewTooManyRequests("too many requests wait to be authenticated and authorized; try again later", 1)
			w.Header().Set("Retry-After", "1")
			responsewriters.ErrorNegotiated(err, scheme.Codecs, schema.GroupVersion{}, w, r)
			return
		}
		leave := sync.OnceFunc(func() { e.places.Release(1) })
		defer leave()
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), leaveKey{}, leave)))
	})
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
			responsewriters.ErrorNegotiated(apierrors.NewUnauthorized("send credentials"), scheme.Codecs, schema.GroupVersion{}, w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
