package subtree

import (
	"context"
	"sync"
)

// maxSlots is how many of a kind of expensive reads run at a time, and maxSlotsPerUser how many of those for one user.
const maxSlots, maxSlotsPerUser = 4, 2

// slots limit what runs at a time: others wait. They are safe for concurrent use.
type slots struct {
	// all has an element for each that is taken.
	all chan struct{}

	mu    sync.Mutex
	users map[string]*userSlots
}

// userSlots are those of one user. They are kept while there are watches that wait for them or have them.
type userSlots struct {
	taken   chan struct{}
	watches int
}

func newSlots() *slots {
	return &slots{all: make(chan struct{}, maxSlots), users: map[string]*userSlots{}}
}

// acquire waits for a slot of a user, and of all. It fails if the context ends first.
func (s *slots) acquire(ctx context.Context, user string) (release func(), err error) {
	own := s.join(user)
	if err := put(ctx, own.taken); err != nil {
		s.leave(user)
		return nil, err
	}
	if err := put(ctx, s.all); err != nil {
		<-own.taken
		s.leave(user)
		return nil, err
	}
	return func() {
		<-s.all
		<-own.taken
		s.leave(user)
	}, nil
}

func (s *slots) join(user string) *userSlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.users[user]
	if own == nil {
		own = &userSlots{taken: make(chan struct{}, maxSlotsPerUser)}
		s.users[user] = own
	}
	own.watches++
	return own
}

func (s *slots) leave(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.users[user]; own.watches > 1 {
		own.watches--
	} else {
		delete(s.users, user)
	}
}

func put(ctx context.Context, taken chan struct{}) error {
	select {
	case taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
