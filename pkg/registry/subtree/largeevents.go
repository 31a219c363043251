package subtree

import (
	"context"
	"sync"
	"time"
)

const (
	// largeEvent is the size of events of which few are read and decoded at a time, because nothing counts them until
	// they are buffered, and decoding takes several times their memory.
	largeEvent = 64 << 10
	// maxDecoding is the number of these for all watches, and maxDecodingPerUser that for the watches that one user has
	// opened.
	maxDecoding, maxDecodingPerUser = 4, 2
	// largeEventTimeout is how long one may take. Its watch begins again then.
	largeEventTimeout = 30 * time.Second
)

// largeEvents limits the large events that are read and decoded at a time. It is safe for concurrent use.
type largeEvents struct {
	// slots has an element for each of them.
	slots chan struct{}

	mu    sync.Mutex
	users map[string]*userSlots
}

// userSlots are those of one user. They are kept while there are watches that wait for them or have them.
type userSlots struct {
	slots   chan struct{}
	watches int
}

func newLargeEvents() *largeEvents {
	return &largeEvents{slots: make(chan struct{}, maxDecoding), users: map[string]*userSlots{}}
}

// acquire waits for a slot of a user, and of all. It fails if the context ends first.
func (l *largeEvents) acquire(ctx context.Context, user string) (release func(), err error) {
	own := l.join(user)
	if err := put(ctx, own.slots); err != nil {
		l.leave(user)
		return nil, err
	}
	if err := put(ctx, l.slots); err != nil {
		<-own.slots
		l.leave(user)
		return nil, err
	}
	return func() {
		<-l.slots
		<-own.slots
		l.leave(user)
	}, nil
}

func (l *largeEvents) join(user string) *userSlots {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.users[user]
	if own == nil {
		own = &userSlots{slots: make(chan struct{}, maxDecodingPerUser)}
		l.users[user] = own
	}
	own.watches++
	return own
}

func (l *largeEvents) leave(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.users[user]; own.watches > 1 {
		own.watches--
	} else {
		delete(l.users, user)
	}
}

func put(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
