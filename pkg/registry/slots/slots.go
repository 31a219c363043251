// Package slots limits how many expensive requests are served at the same time, in total and for each user.
package slots

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Limits is how many requests are served at the same time.
type Limits struct{ Total, PerUser int }

// Slots are taken by requests. They are safe for concurrent use.
type Slots struct {
	what       string
	limits     Limits
	retryAfter int

	mu    sync.Mutex
	taken int
	users map[string]int
}

// New returns free slots for what the messages call by that plural. Whoever gets none may try again after so many seconds.
func New(what string, limits Limits, retryAfter int) *Slots {
	return &Slots{what: what, limits: limits, retryAfter: retryAfter, users: map[string]int{}}
}

// Take takes a slot for the requester until release is called. It fails with TooManyRequests.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	user := ""
	if requester, ok := genericapirequest.UserFrom(ctx); ok {
		user = requester.GetName()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.users[user] >= s.limits.PerUser:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("user %q already has %d %s, the most that one user may have at the same time; try again when one is finished",
			user, s.limits.PerUser, s.what), s.retryAfter)
	case s.taken >= s.limits.Total:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("this server already has %d %s, the most that it may have at the same time; try again later",
			s.limits.Total, s.what), s.retryAfter)
	}
	s.taken++
	s.users[user]++
	return sync.OnceFunc(func() { s.release(user) }), nil
}

func (s *Slots) release(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.users[user]--; s.users[user] == 0 {
		delete(s.users, user)
	}
}
