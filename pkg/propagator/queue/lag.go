package queue

import (
	"sync"
	"time"
)

// Lag measures how long it takes until all the work that a change has caused is done. It is safe for concurrent use.
type Lag struct {
	mu      sync.Mutex
	pending map[Key]*wave
	done    func(kind int, d time.Duration)
	now     func() time.Time
}

type wave struct {
	started time.Time
	left    int
}

// NewLag returns a Lag that calls done for each change once all its work is done.
func NewLag(done func(kind int, d time.Duration)) *Lag {
	return &Lag{pending: map[Key]*wave{}, done: done, now: time.Now}
}

// Start records that a change at the given time has caused the work. Work that an earlier change has caused too counts
// as done for that change.
func (l *Lag) Start(at time.Time, keys []Key) {
	if len(keys) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &wave{started: at, left: len(keys)}
	for _, key := range keys {
		l.finish(key)
		l.pending[key] = w
	}
}

// Done records that a piece of work is done.
func (l *Lag) Done(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish(key)
}

func (l *Lag) finish(key Key) {
	w := l.pending[key]
	if w == nil {
		return
	}
	delete(l.pending, key)
	if w.left--; w.left == 0 {
		l.done(key.Kind, l.now().Sub(w.started))
	}
}
