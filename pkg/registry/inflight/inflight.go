// Package inflight limits how many expensive requests are in flight, in total and for each user.
//
// The generic API server limits all requests as a whole (--max-requests-inflight), and its priority and fairness needs
// configuration objects that administrators of kube-apiserver own. Neither bounds one subresource, or one user's share
// of it.
package inflight

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Limits are the numbers of requests in flight.
type Limits struct{ Total, PerUser int }

// Limiter counts the requests in flight. It is safe for concurrent use.
type Limiter struct {
	what       string
	limits     Limits
	retryAfter int

	mu    sync.Mutex
	total int
	users map[string]int
}

// New returns a Limiter of requests that error messages call what, a plural. Rejected requests may be repeated after
// retryAfter seconds.
func New(what string, limits Limits, retryAfter int) *Limiter {
	return &Limiter{what: what, limits: limits, retryAfter: retryAfter, users: map[string]int{}}
}

// Acquire counts a request of the requester until release is called. It fails with TooManyRequests.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	user := ""
	if requester, ok := genericapirequest.UserFrom(ctx); ok {
		user = requester.GetName()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.users[user] >= l.limits.PerUser:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("user %q already has %d %s, the most that one user may have at the same time; try again when one is finished",
			user, l.limits.PerUser, l.what), l.retryAfter)
	case l.total >= l.limits.Total:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("this server already has %d %s, the most that it may have at the same time; try again later",
			l.limits.Total, l.what), l.retryAfter)
	}
	l.total++
	l.users[user]++
	return sync.OnceFunc(func() { l.release(user) }), nil
}

func (l *Limiter) release(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.users[user]--; l.users[user] == 0 {
		delete(l.users, user)
	}
}
