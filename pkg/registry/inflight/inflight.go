// Package inflight limits how many expensive requests are in flight, in total and for each user, tree or namespace.
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
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Limits are the numbers of requests in flight, or of what else a Limiter counts of them. PerUser is also that of a tree
// or namespace where those are counted.
type Limits struct{ Total, PerUser int }

// Limiter counts the requests in flight. It is safe for concurrent use.
type Limiter struct {
	what       string
	limits     Limits
	retryAfter int

	mu    sync.Mutex
	total int
	// users has what is counted by share.
	users map[string]int
}

// New returns a Limiter of requests that error messages call what, a plural. Rejected requests may be repeated after
// retryAfter seconds.
func New(what string, limits Limits, retryAfter int) *Limiter {
	return &Limiter{what: what, limits: limits, retryAfter: retryAfter, users: map[string]int{}}
}

// ShareOf returns whose share the requester has of what is limited for each user: its own, or that of the group of all
// ServiceAccounts in its namespace, because a tenant can create any number of them. Those that apply repositories are
// made by administrators, and each has its own. It is empty without a requester.
func ShareOf(ctx context.Context) string {
	requester, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return ""
	}
	if namespace, _, err := serviceaccount.SplitUsername(requester.GetName()); err == nil && namespace != hnc.RepositoriesNamespace {
		return serviceaccount.MakeNamespaceGroupName(namespace)
	}
	return requester.GetName()
}

// Acquire counts a request of the requester until release is called. It fails with TooManyRequests.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	return l.AcquireN(ctx, 1)
}

// AcquireN counts n of what is limited, such as the bytes of a request.
func (l *Limiter) AcquireN(ctx context.Context, n int) (release func(), err error) {
	return l.acquire("user", ShareOf(ctx), n)
}

// AcquireTree counts n of what is limited for the tree with a root, whoever the requester is: a tenant can have any number
// of users there.
func (l *Limiter) AcquireTree(root string, n int) (release func(), err error) {
	return l.acquire("tree", root, n)
}

// AcquireNamespace counts n of what is limited for a namespace, whoever the requester is.
func (l *Limiter) AcquireNamespace(namespace string, n int) (release func(), err error) {
	return l.acquire("namespace", namespace, n)
}

func (l *Limiter) acquire(of, share string, n int) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.users[share]+n > l.limits.PerUser:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%s %q already has %d %s, and one %s may have %d at the same time; try again when one is finished",
			of, share, l.users[share], l.what, of, l.limits.PerUser), l.retryAfter)
	case l.total+n > l.limits.Total:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("this server already has %d %s, and may have %d at the same time; try again later",
			l.total, l.what, l.limits.Total), l.retryAfter)
	}
	l.total += n
	l.users[share] += n
	return sync.OnceFunc(func() { l.release(share, n) }), nil
}

// responses are the bytes of responses in flight that are encoded as a whole, some times as large.
var responses = Limits{Total: 64 << 20, PerUser: 32 << 20}

// NewResponses returns a Limiter of the bytes of large responses.
func NewResponses() *Limiter { return New("bytes of large responses", responses, 1) }

// Hold counts n of what is limited, at most what one user may have, until the request ends whose context it is. It fails
// with TooManyRequests.
func (l *Limiter) Hold(ctx context.Context, n int) error {
	release, err := l.AcquireN(ctx, min(n, l.limits.PerUser))
	if err == nil {
		context.AfterFunc(ctx, release)
	}
	return err
}

func (l *Limiter) release(share string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total -= n
	if l.users[share] -= n; l.users[share] == 0 {
		delete(l.users, share)
	}
}
