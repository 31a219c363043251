package sourceindex

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/storewatch"

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
func (s *Sources) Run(ctx context.Context, configurations, hierarchies storewatch.Source) {
	storewatch.Run(ctx, "configuration of sources", configurations, s.setConfigurations, s.setConfiguration)
	s.follow(hierarchies, storewatch.Run(ctx, "hierarchies of sources", hierarchies, s.setHierarchies, s.setHierarchy))
	timer := time.NewTimer(s.period())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.resolve:
		case <-timer.C:
		}
		s.stopIdle()
		period := s.period()
		if !s.resolveKinds(ctx) {
			period = min(resolveRetry, period)
		}
		timer.Reset(period)
		select {
		case <-ctx.Done():
		case <-time.After(resolveDebounce):
		}
	}
}

// period is the interval at which kinds are resolved, and idle watches ended.
func (s *Sources) period() time.Duration { return min(resolvePeriod, s.idle) }

// enqueueResolve schedules resolveKinds.
func (s *Sources) enqueueResolve() {
	select {
	case s.resolve <- struct{}{}:
	default:
	}
}
