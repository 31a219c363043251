package propagator

import (
	"sync"
	"time"
)

// hold keeps the propagator from creating a Hierarchy at once where somebody may be about to do so: who applies a directory asks whether there is
// one, is told no, and would fail to create it. It is safe for concurrent use.
type hold struct {
	pause time.Duration
	now   func() time.Time

	mu sync.Mutex
	// since holds when each namespace was first found to lack one.
	since map[string]time.Time
}

func newHold(pause time.Duration) *hold {
	return &hold{pause: pause, now: time.Now, since: map[string]time.Time{}}
}

// wait returns how long to wait before the Hierarchy of a namespace is created, 0 if that was waited for.
func (h *hold) wait(namespace string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, ok := h.since[namespace]
	if !ok {
		at = h.now()
		h.since[namespace] = at
	}
	return max(h.pause-h.now().Sub(at), 0)
}

// over forgets a namespace that lacks none any more.
func (h *hold) over(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.since, namespace)
}
