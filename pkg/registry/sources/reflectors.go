package sources

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/follow"

	"context"
	"time"
)

// resolvePeriod is the interval at which kinds are resolved without a known change, resolveDebounce the minimum
// interval.
const (
	resolvePeriod   = time.Minute
	resolveDebounce = 250 * time.Millisecond
)

// Run maintains the index until ctx ends. While it is needed, it watches the enforced kinds and those that the
// configuration and the hierarchies name.
func (s *Sources) Run(ctx context.Context, configurations, hierarchies follow.Source) {
	follow.Run(ctx, "configuration of sources", configurations, s.setConfigurations, s.setConfiguration)
	follow.Run(ctx, "hierarchies of sources", hierarchies, s.setHierarchies, s.setHierarchy)
	timer := time.NewTicker(min(resolvePeriod, s.idle))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.resolve:
		case <-timer.C:
			s.stopIdle()
		}
		s.resolveKinds(ctx)
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
