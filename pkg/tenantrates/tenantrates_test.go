package tenantrates

import (
	"testing"
	"time"
)

// A tenant who writes much does not use up the rate of others.
func TestOneTreeDoesNotUseUpTheRate(t *testing.T) {
	const second, most, size = 1 << 20, 64 << 20, 512 << 10
	r, now := New(second, most), time.Unix(1000, 0)
	accepted := func(tree string) (n int) {
		for range 2 * most / size {
			if r.Allow(now, tree, size) {
				n++
			}
		}
		return n
	}
	const half = most / size / 2
	if got := accepted("greedy"); got != half {
		t.Errorf("one tree has %d writes accepted, want %d", got, half)
	}
	if got := accepted("other"); got != half {
		t.Errorf("another tree has %d, want %d", got, half)
	}
	now = now.Add(time.Minute)
	if got := accepted("greedy"); got != 60*second/treeShare/size {
		t.Errorf("a minute later it has %d", got)
	}
	now = now.Add(time.Hour)
	if got := accepted("third"); got != half || len(r.trees) != 1 {
		t.Errorf("an hour later another one has %d; %d trees are remembered", got, len(r.trees))
	}
}

// Refusals because of other trees do not use up the share of a tree.
func TestRefusalsCostATreeNothing(t *testing.T) {
	r, now := New(1, 4), time.Unix(1000, 0)
	for _, tree := range []string{"a", "a", "b", "b"} {
		if !r.Allow(now, tree, 1) {
			t.Fatalf("%s is refused", tree)
		}
	}
	for range 2 {
		if r.Allow(now, "c", 1) {
			t.Fatal("more than the rate of all trees is allowed")
		}
	}
	now = now.Add(2 * time.Second)
	for range 2 {
		if !r.Allow(now, "c", 1) {
			t.Error("refusals have used up the share of c")
		}
	}
}

// What was written in any case is paid off at half of the rate, for a bounded time, and delays no other tree.
func TestDebtsOfATreeAreItsOwnAndBounded(t *testing.T) {
	const limit = time.Minute
	r, now := New(100, 1000), time.Unix(1000, 0)
	for i, want := range []time.Duration{0, 4 * time.Second, 12 * time.Second} {
		if delay := r.Spend(now, "greedy", []int{500, 200, 400}[i], limit); delay != want {
			t.Errorf("write %d delays more by %s, want %s", i, delay, want)
		}
	}
	for range 100 {
		if delay := r.Spend(now, "greedy", 500, limit); delay > limit {
			t.Fatalf("the delay is %s", delay)
		}
	}
	if delay := r.Spend(now.Add(limit), "greedy", 50, limit); delay != time.Second {
		t.Errorf("when the longest delay is over, 50 bytes delay more by %s, want a second", delay)
	}
	r = New(100, 1000)
	for range 100 {
		r.Spend(now, "greedy", 500, limit)
	}
	if delay := r.Spend(now, "other", 400, limit); delay > 4*time.Second {
		t.Errorf("another tree waits for %s, want as long as all trees pay for its own 400 bytes", delay)
	}
}

// All trees together are held to the whole rate.
func TestDebtsOfManyTreesAddUp(t *testing.T) {
	r, now := New(100, 1000), time.Unix(1000, 0)
	var delay time.Duration
	for _, tree := range []string{"a", "b", "c", "d", "e"} {
		delay = r.Spend(now, tree, 500, time.Minute)
	}
	if delay != 15*time.Second {
		t.Errorf("2500 bytes delay more by %s, want the 15s that 1500 take", delay)
	}
}
