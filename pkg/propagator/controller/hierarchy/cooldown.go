package hierarchy

import (
	"maps"
	"sync"
	"time"
)

// cooldown delays writes for a namespace until a while after an event. It is safe for concurrent use.
type cooldown struct {
	duration time.Duration
	now      func() time.Time

	mu sync.Mutex
	// started holds, by namespace, when the latest cooldown began, as long as that matters; swept is when the others were removed.
	started map[string]time.Time
	swept   time.Time
}

func newCooldown(duration time.Duration) *cooldown {
	return &cooldown{duration: duration, now: time.Now, started: map[string]time.Time{}}
}

// remaining returns how long the cooldown of a namespace still lasts, 0 if there is none.
func (c *cooldown) remaining(namespace string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.started[namespace]
	if !ok {
		return 0
	}
	return max(c.duration-c.now().Sub(at), 0)
}

// start starts the cooldown of a namespace anew.
func (c *cooldown) start(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.swept) >= c.duration {
		maps.DeleteFunc(c.started, func(_ string, at time.Time) bool { return now.Sub(at) >= c.duration })
		c.swept = now
	}
	c.started[namespace] = now
}
