package propagator

import (
	"testing"
	"time"
)

func TestAHierarchyIsCreatedOnlyAfterAWhile(t *testing.T) {
	now := time.Unix(0, 0)
	h := newHold(2 * time.Second)
	h.now = func() time.Time { return now }
	for _, step := range []struct {
		after, want time.Duration
		over        bool
	}{{0, 2 * time.Second, false}, {time.Second, time.Second, false}, {time.Second, 0, false}, {time.Second, 0, true}, {0, 2 * time.Second, false}} {
		now = now.Add(step.after)
		if got := h.wait("a"); got != step.want {
			t.Errorf("at %s: %s, want %s", now.UTC().Format("05"), got, step.want)
		}
		if step.over {
			h.over("a")
		}
	}
}
