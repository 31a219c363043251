package subtree

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxSlots is how many of a kind of expensive reads run at a time, maxSlotsPerUser how many of those for one user, and
// maxSlotsPerTree how many in one tree.
const maxSlots, maxSlotsPerUser, maxSlotsPerTree = 4, 2, 3

// slots limit what runs at a time: others wait. They are safe for concurrent use.
type slots struct {
	mu     sync.Mutex
	owners map[slotOwner]*ownSlots
}

// slotOwner is a user, a tree or, without either, all of them, and how many slots it may have.
type slotOwner struct {
	user, tree string
	most       int
}

// ownSlots are those of one owner. They are kept while anybody waits for them or has them.
type ownSlots struct {
	taken   chan struct{}
	waiting int
}

func newSlots() *slots {
	return &slots{owners: map[slotOwner]*ownSlots{}}
}

// acquire waits for a slot of the user of a request, then of its tree, then of all, so that requests of a user with many
// wait for each other first. It fails if the context ends or the server stops.
func (s *slots) acquire(ctx context.Context, request *share) (release func(), err error) {
	var undo []func()
	release = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	for _, owner := range []slotOwner{{user: request.user, most: maxSlotsPerUser}, {tree: request.root, most: maxSlotsPerTree}, {most: maxSlots}} {
		taken := s.join(owner)
		if err := takeSlot(ctx, taken); err != nil {
			s.leave(owner)
			release()
			return nil, err
		}
		undo = append(undo, func() {
			<-taken
			s.leave(owner)
		})
	}
	return release, nil
}

func (s *slots) join(owner slotOwner) (taken chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.owners[owner]
	if own == nil {
		own = &ownSlots{taken: make(chan struct{}, owner.most)}
		s.owners[owner] = own
	}
	own.waiting++
	return own.taken
}

func (s *slots) leave(owner slotOwner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.owners[owner]; own.waiting > 1 {
		own.waiting--
	} else {
		delete(s.owners, owner)
	}
}

func takeSlot(ctx context.Context, taken chan struct{}) error {
	select {
	case taken <- struct{}{}:
		return nil
	case <-stopping(ctx):
		return apierrors.NewTooManyRequests("this server is stopping; try again later", retryAfter)
	case <-ctx.Done():
		return ctx.Err()
	}
}
