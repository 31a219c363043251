package sources

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/follow"

	"context"
	"time"
)

// resolvePeriod is the interval at which kinds are resolved without a known change, so that those that appear are
// found; resolveRetry is that after an error, and resolveDebounce the minimum interval.
const (
	resolvePeriod   = time.Minute
	resolveRetry    = 5 * time.Second
	resolveDebounce = 250 * time.Millisecond
)

// Run follows the modes, and maintains the index, until ctx ends. While the index is needed, it watches the enforced
// kinds and those that the configuration and the hierarchies name.
func (s *Sources) Run(ctx context.Context, configurations, hierarchies follow.Source) {
	follow.Run(ctx, "configuration of sources", configurations, s.setConfigurations, s.setConfiguration)
	s.follow(follow.Run(ctx, "hierarchies of sources", hierarchies, s.setHierarchies, s.setHierarchy))
	timer := time.NewTimer(min(resolvePeriod, s.idle))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.resolve:
		case <-timer.C:
		}
		s.stopIdle()
		period := resolvePeriod
		if !s.resolveKinds(ctx) {
			period = resolveRetry
		}
		timer.Reset(min(period, s.idle))
		select {
		case <-ctx.Done():
		case <-time.After(resolveDebounce):
		}
	}
}

// enqueueResolve schedules resolveKinds.
func (s *Sources) enqueueResolve() {
	select {
	case s.resolve <- struct{}{}:
	default:
	}
}
