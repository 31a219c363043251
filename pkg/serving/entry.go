package serving

import (
	"context"
	"net/http"
	"slices"
	"strings"
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
// number per second. Clients that reach the port can ask for any number.
const (
	// maxEntering is how many requests may wait for reviews at the same time, and maxEnteringOfUser how many of one
	// user.
	maxEntering, maxEnteringOfUser = 400, 40
	// reviewTimeout bounds how long a request waits for the review of its permission.
	reviewTimeout = 10 * time.Second
)

// entry bounds the requests that are not authenticated and authorized yet.
type entry struct {
	// tokens bounds requests whose tokens may have to be reviewed, and others all other requests whose permissions may
	// have to be, such as those that kube-apiserver forwards, which has a certificate.
	tokens *Tokens
	others *semaphore.Weighted
	// ofTokens and ofOthers limit how many places one user occupies.
	ofTokens, ofOthers *inflight.Limiter
	// open are the paths that need no permission, such as those of probes.
	open []string
}

// newEntry returns one with as many places of either sort, and as many for one user.
func newEntry(places, ofUser int, open []string) *entry {
	users := func() *inflight.Limiter {
		return inflight.New("requests that wait to be authorized", inflight.Limits{Total: places, PerUser: ofUser}, retryAfter)
	}
	return &entry{tokens: newTokens(int64(places)), others: semaphore.NewWeighted(int64(places)), ofTokens: users(), ofOthers: users(), open: open}
}

// retryAfter is when a rejected request may be sent again, in seconds.
const retryAfter = 1

// waiting is a request that has not entered.
type waiting struct {
	users *inflight.Limiter
	// others are the places of requests without tokens, nil for one with a token.
	others   *semaphore.Weighted
	releases []func()
}

func (w *waiting) leave() {
	for _, release := range w.releases {
		release()
	}
	w.releases = nil
}

type waitingKey struct{}

// bounded rejects requests while too many wait for reviews of their tokens, and prepares shared.
func (e *entry) bounded(handler http.Handler) http.Handler {
	handler = e.tokens.Bounded(handler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place := &waiting{users: e.ofTokens}
		if !hasToken(r) {
			place.users, place.others = e.ofOthers, e.others
		}
		defer place.leave()
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), waitingKey{}, place)))
	})
}

// hasToken reports whether a request is authenticated by a token, in one of the headers that can have it.
func hasToken(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" || slices.ContainsFunc(r.Header.Values("Sec-Websocket-Protocol"), func(protocols string) bool {
		return strings.Contains(protocols, "base64url.bearer.authorization.k8s.io.")
	})
}

// shared rejects authenticated requests while too many wait to be authorized, and those of users who have too many that
// wait. What needs no review does not wait: paths that are open to all, and kube-apiserver's own requests.
func (e *entry) shared(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, _ := request.UserFrom(r.Context())
		free := slices.Contains(e.open, r.URL.Path) || u != nil && slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup)
		if place, ok := r.Context().Value(waitingKey{}).(*waiting); ok && !free {
			if place.others != nil {
				if !place.others.TryAcquire(1) {
					fail(w, r, apierrors.NewTooManyRequests("too many requests wait to be authorized; try again later", retryAfter))
					return
				}
				place.releases = append(place.releases, func() { place.others.Release(1) })
			}
			release, err := place.users.Acquire(r.Context())
			if err != nil {
				fail(w, r, err)
				return
			}
			place.releases = append(place.releases, release)
		}
		handler.ServeHTTP(w, r)
	})
}

// entered counts a request no more.
func (e *entry) entered(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if place, ok := r.Context().Value(waitingKey{}).(*waiting); ok {
			place.leave()
		}
		handler.ServeHTTP(w, r)
	})
}

// fail responds with an error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	responsewriters.ErrorNegotiated(err, scheme.Codecs, schema.GroupVersion{}, w, r)
}

// withDeadline bounds how long a request waits for a review.
func withDeadline(reviews authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
		defer cancel()
		return reviews.Authorize(ctx, a)
	})
}

// withoutAnonymous rejects requests without credentials, except for paths that are allowed to all, before anything is
// reviewed for them.
func withoutAnonymous(handler http.Handler, except authorizer.Authorizer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, ok := request.UserFrom(r.Context()); ok && u.GetName() == user.Anonymous {
			if decision, _, err := except.Authorize(r.Context(), authorizer.AttributesRecord{Path: r.URL.Path}); err == nil && decision == authorizer.DecisionAllow {
				handler.ServeHTTP(w, r)
				return
			}
			fail(w, r, apierrors.NewUnauthorized("send credentials"))
			return
		}
		handler.ServeHTTP(w, r)
	})
}
