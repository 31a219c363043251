package hierarchy

import (
	"testing"
	"time"
)

func TestCooldownOfANamespace(t *testing.T) {
	clock := time.Unix(1000, 0)
	c := newCooldown(time.Second)
	c.now = func() time.Time { return clock }
	for range 3 {
		for _, step := range []struct{ after, remaining time.Duration }{{0, time.Second}, {400 * time.Millisecond, 600 * time.Millisecond}, {600 * time.Millisecond, 0}} {
			if step.after == 0 {
				if remaining := c.remaining("a"); remaining != 0 {
					t.Errorf("a namespace without a recent event waits for %s", remaining)
				}
				c.start("a")
			}
			clock = clock.Add(step.after)
			if remaining := c.remaining("a"); remaining != step.remaining {
				t.Errorf("%s later it waits for %s, want %s", step.after, remaining, step.remaining)
			}
			if remaining := c.remaining("b"); remaining != 0 {
				t.Errorf("another namespace waits for %s", remaining)
			}
		}
	}
	c.start("b")
	if len(c.started) != 1 {
		t.Errorf("it remembers cooldowns that are over: %v", c.started)
	}
}
