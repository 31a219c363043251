// Package cooldown spaces writes of what keeps changing.
package cooldown

import (
	"maps"
	"sync"
	"time"
)

// Cooldown delays writes for a name until a while after an event. It is safe for concurrent use.
type Cooldown struct {
	// Now returns the time; it is time.Now except in tests.
	Now func() time.Time

	duration time.Duration
	mu       sync.Mutex
	// started holds, by name, when the latest cooldown began, as long as that matters; swept is when the others were
	// removed.
	started map[string]time.Time
	swept   time.Time
}

// New returns a Cooldown that lasts for the duration.
func New(duration time.Duration) *Cooldown {
	return &Cooldown{duration: duration, Now: time.Now, started: map[string]time.Time{}}
}

// Remaining returns how long the cooldown of a name still lasts, 0 if there is none.
func (c *Cooldown) Remaining(name string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.started[name]
	if !ok {
		return 0
	}
	return max(c.duration-c.Now().Sub(at), 0)
}

// Start starts the cooldown of a name anew.
func (c *Cooldown) Start(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if now.Sub(c.swept) >= c.duration {
		maps.DeleteFunc(c.started, func(_ string, at time.Time) bool { return now.Sub(at) >= c.duration })
		c.swept = now
	}
	c.started[name] = now
}
