// Package pacing spaces writes of what keeps changing.
package pacing

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
	// ends holds, by name, when the latest cooldown ends, as long as that matters; swept is when the others were
	// removed.
	ends  map[string]time.Time
	swept time.Time
}

// New returns a Cooldown that lasts for the duration.
func New(duration time.Duration) *Cooldown {
	return &Cooldown{duration: duration, Now: time.Now, ends: map[string]time.Time{}}
}

// Remaining returns how long the cooldown of a name still lasts, 0 if there is none.
func (c *Cooldown) Remaining(name string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.ends[name].Sub(c.Now()), 0)
}

// Start starts the cooldown of a name anew.
func (c *Cooldown) Start(name string) { c.StartFor(name, c.duration) }

// StartFor starts the cooldown of a name anew, with another duration.
func (c *Cooldown) StartFor(name string, duration time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if now.Sub(c.swept) >= c.duration {
		maps.DeleteFunc(c.ends, func(_ string, end time.Time) bool { return !now.Before(end) })
		c.swept = now
	}
	c.ends[name] = now.Add(duration)
}
