package rbacindex

import (
	"testing"
	"time"
)

func TestTheLastChangeOfANamespaceIsKnown(t *testing.T) {
	now := time.Unix(1000, 0)
	c := NewChanges("roles", "bindings")
	c.Now = func() time.Time { return now }
	last := func(namespace string) int64 {
		at, known := c.Last(namespace)
		if !known {
			return -1
		}
		return max(0, at.Unix())
	}
	c.Heard("roles")
	if got := last("a"); got != -1 {
		t.Errorf("%d is known before all sources are", got)
	}
	c.Heard("bindings")
	if got := last("a"); got != 0 {
		t.Errorf("before any change: %d", got)
	}
	now = now.Add(time.Second)
	c.Changed("bindings", "a")
	if a, all := last("a"), last(AllNamespaces); a != 1001 || all != 0 {
		t.Errorf("after a change in a: %d there, %d in the cluster", a, all)
	}
	now = now.Add(time.Second)
	c.Changed("roles", AllNamespaces)
	if a, b, all := last("a"), last("b"), last(AllNamespaces); a != 1002 || b != 1002 || all != 1002 {
		t.Errorf("after a change in the cluster: %d, %d, %d", a, b, all)
	}
	now = now.Add(maxSilence + time.Second)
	c.Heard("roles")
	if got := last("a"); got != -1 {
		t.Errorf("%d is known while a source is silent", got)
	}
	c.Heard("bindings")
	if got := last("a"); got != 1002 {
		t.Errorf("when it is heard again: %d", got)
	}
}
