package sourceindex

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func (f *fixture) watched() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.kinds)
}

func TestObjectsAreWatchedOnlyWhileChangesNeedThem(t *testing.T) {
	t.Parallel()
	f := run(t, configMaps("", ""), "root/a", "moved/a")
	f.idle = time.Second
	f.start(t)
	above := []string{"root"}
	for range 2 {
		// Twice: what has ended begins again.
		if got := words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))); got != "root/a>moved" {
			t.Errorf("the first call after some time: %q", got)
		}
		eventually(t, "watched kinds", "0", func() string { return fmt.Sprint(f.watched()) })
	}
}

func TestNothingIsReadBeforeAChange(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a")
	f.start(t)
	eventually(t, "configuration", "true", func() string { return fmt.Sprint(len(f.CurrentModes().Cluster) > 0) })
	f.resolveKinds(t.Context())
	if n := f.watched(); n > 0 {
		t.Errorf("%d kinds are watched", n)
	}
	if actions := f.client.Actions(); len(actions) > 0 {
		t.Errorf("requests: %v", actions)
	}
}

func TestAChangeThatWaitsEndsWithItsRequest(t *testing.T) {
	f := run(t, configMaps("", ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := words(f.Overwritten(ctx, []string{"root"}, nil, into([]string{"root"}, "moved"))); got != "?the configured kinds" {
		t.Errorf("got %q", got)
	}
}
