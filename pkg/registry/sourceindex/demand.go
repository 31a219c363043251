package sourceindex

import (
	"context"
	"time"
)

const (
	// idlePeriod is how long objects are watched after the last change that needed them. Most clusters rarely change
	// their trees, and a watch costs kube-apiserver and this server time for each write of a propagated kind in the
	// whole cluster.
	idlePeriod = 10 * time.Minute
	// maxWait bounds how long changes wait for the first lists. Later ones do not wait for a kind that cannot be read.
	maxWait = 5 * time.Second
)

// waitForSync starts to watch the objects unless they are watched, and waits until the index is complete, for maxWait
// at most.
func (s *Sources) waitForSync(ctx context.Context) {
	complete, progress := s.demand()
	if complete {
		return
	}
	s.mu.RLock()
	ctx, cancel := context.WithDeadline(ctx, s.since.Add(s.maxWait))
	s.mu.RUnlock()
	defer cancel()
	for !complete {
		select {
		case <-ctx.Done():
			return
		case <-progress:
			complete, progress = s.demand()
		}
	}
}

// demand records that the index is needed. It returns whether it is complete, and a channel that is closed when it may
// have become so.
func (s *Sources) demand() (complete bool, progress <-chan struct{}) {
	now := time.Now()
	s.lastUse.Store(now.UnixNano())
	s.mu.RLock()
	watching, complete, progress := s.watching, s.complete(), s.progress
	s.mu.RUnlock()
	if watching {
		return complete, progress
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.watching {
		s.watching, s.since = true, now
		s.enqueueResolve()
	}
	return false, s.progress
}

// complete reports that all kinds are known and listed. The lock must be held.
func (s *Sources) complete() bool {
	for _, k := range s.kinds {
		if !k.synced {
			return false
		}
	}
	return s.watching && s.resolved
}

// progressed wakes the changes that wait. The lock must be held.
func (s *Sources) progressed() {
	close(s.progress)
	s.progress = make(chan struct{})
}

// stopIdle ends all watches that no change has needed for some time.
func (s *Sources) stopIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watching && time.Since(time.Unix(0, s.lastUse.Load())) > s.idle {
		s.watching = false
		s.reset()
	}
}

// reset ends all watches and forgets the objects. The lock must be held.
func (s *Sources) reset() {
	for _, k := range s.kinds {
		k.stop()
	}
	s.kinds, s.resolved = nil, false
}
