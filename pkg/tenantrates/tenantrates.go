// Package tenantrates limits what is done on behalf of tenants: bytes that are written, changes, and time that is waited.
package tenantrates

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// treeShare is the divisor for the share of one tree in a rate, so that a tenant who writes much does not use up the
// rate of others.
const treeShare = 2

// Rates limit what is done per second, for all trees and for each: bytes, numbers of changes, or milliseconds of waiting.
// They are safe for concurrent use.
type Rates struct {
	perSecond rate.Limit
	burst     int

	mu  sync.Mutex
	all *rate.Limiter
	// trees holds the limiters of trees with recent writes, by root.
	trees map[string]*rate.Limiter
}

// New returns rates with the given number of bytes per second, and a burst.
func New(perSecond, burst int) *Rates {
	return &Rates{perSecond: rate.Limit(perSecond), burst: burst, all: rate.NewLimiter(rate.Limit(perSecond), burst), trees: map[string]*rate.Limiter{}}
}

// Allow reports whether the given number of bytes may be written for a tree now.
func (r *Rates) Allow(now time.Time, tree string, size int) bool {
	return r.AllowShared(now, tree, size, size)
}

// AllowShared is Allow for bytes of which only a part takes of what all trees share.
func (r *Rates) AllowShared(now time.Time, tree string, size, shared int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.of(now, tree)
	// What is refused for others costs the tree nothing.
	return own.TokensAt(now) >= float64(size) && r.all.AllowN(now, shared) && own.AllowN(now, size)
}

// of returns the limiter of a tree. The lock must be held.
func (r *Rates) of(now time.Time, tree string) *rate.Limiter {
	maps.DeleteFunc(r.trees, func(_ string, l *rate.Limiter) bool { return l.TokensAt(now) >= float64(r.burst/treeShare) })
	own, known := r.trees[tree]
	if !known {
		own = rate.NewLimiter(r.perSecond/treeShare, r.burst/treeShare)
		r.trees[tree] = own
	}
	return own
}

// Spend counts bytes that have been written for a tree, allowed or not, and returns how long to write no more: limit at
// most. No debt grows beyond what is paid off in that time. What a tree owes beyond its burst is no debt of all trees: it
// may use up the burst of all, so that others pay for their own bytes, and not for its.
func (r *Rates) Spend(now time.Time, tree string, size int, limit time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.of(now, tree)
	shared := min(size, max(int(own.TokensAt(now))+own.Burst(), 0))
	return max(spend(own, now, size, limit), spend(r.all, now, shared, limit))
}

func spend(l *rate.Limiter, now time.Time, size int, limit time.Duration) time.Duration {
	room := max(int(l.TokensAt(now)+limit.Seconds()*float64(l.Limit())), 0)
	return l.ReserveN(now, min(size, room, l.Burst())).DelayFrom(now)
}

// Borrow reports whether a change may be made for a tree now that costs the tree more than once: it waits until that is
// paid off. Others pay for one change.
func (r *Rates) Borrow(now time.Time, tree string, cost int) bool {
	if !r.Allow(now, tree, 1) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if own := r.trees[tree]; own != nil && cost > 1 {
		own.ReserveN(now, cost-1)
	}
	return true
}

// GiveBack gives back what Borrow has taken for a change that was not made.
func (r *Rates) GiveBack(now time.Time, tree string, cost int) {
	r.Return(now, tree, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if own := r.trees[tree]; own != nil {
		own.AllowN(now, 1-cost)
	}
}

// Return gives back what Allow has taken for a write that was not made.
func (r *Rates) Return(now time.Time, tree string, size int) { r.ReturnShared(now, tree, size, size) }

// ReturnShared gives back what AllowShared has taken.
func (r *Rates) ReturnShared(now time.Time, tree string, size, shared int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.AllowN(now, -shared)
	if own, known := r.trees[tree]; known {
		own.AllowN(now, -size)
	}
}
