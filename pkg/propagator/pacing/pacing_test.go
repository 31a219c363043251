package pacing

import (
	"testing"
	"time"
)

func TestCooldownOfAName(t *testing.T) {
	clock := time.Unix(1000, 0)
	c := New(time.Second)
	c.Now = func() time.Time { return clock }
	for range 3 {
		for _, step := range []struct{ after, remaining time.Duration }{{0, time.Second}, {400 * time.Millisecond, 600 * time.Millisecond}, {600 * time.Millisecond, 0}} {
			if step.after == 0 {
				if remaining := c.Remaining("a"); remaining != 0 {
					t.Errorf("a name without a recent event waits for %s", remaining)
				}
				c.Start("a")
			}
			clock = clock.Add(step.after)
			if remaining := c.Remaining("a"); remaining != step.remaining {
				t.Errorf("%s later it waits for %s, want %s", step.after, remaining, step.remaining)
			}
			if remaining := c.Remaining("b"); remaining != 0 {
				t.Errorf("another name waits for %s", remaining)
			}
		}
	}
	c.Start("b")
	if len(c.ends) != 1 {
		t.Errorf("it remembers cooldowns that are over: %v", c.ends)
	}
	c.StartFor("b", time.Minute)
	clock = clock.Add(10 * time.Second)
	c.Start("a")
	if remaining := c.Remaining("b"); remaining != 50*time.Second {
		t.Errorf("a longer cooldown lasts for another %s, want 50s", remaining)
	}
}
