package quota

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// computeTimeout is how long the creation of a sub-namespace occupies a worker until kube-controller-manager has
// computed the use of new ResourceQuotas. Afterwards, Config.Held continues it.
const computeTimeout = 2 * time.Second

// computeInterval is the time between two looks at the cache, which costs no request.
const computeInterval = 20 * time.Millisecond

// Limits reports whether ResourceQuotas limit a new namespace below a parent.
func (c *Controller) Limits(s *cache.State, parent string) bool {
	for _, q := range s.Quotas.Governing(s.Tree, parent) {
		if len(q.Counted) > 0 {
			return true
		}
	}
	return false
}

// Populate writes the ResourceQuotas of a new namespace, and reports whether it is held to its limits. Until the use is
// computed, kube-apiserver admits everything; Populate waits for that for a moment if await is set.
func (c *Controller) Populate(ctx context.Context, namespace string, await bool) (held bool, err error) {
	if err := c.sync(ctx, namespace); err != nil {
		c.updatePending(namespace)
		return false, err
	}
	timeout := computeTimeout
	if !await {
		timeout = 0
	}
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_ = wait.PollUntilContextCancel(waiting, computeInterval, true, func(context.Context) (bool, error) {
		c.Cache.Read(func(s *cache.State) { held = c.Held(s, namespace) })
		return held, nil
	})
	c.updatePending(namespace)
	// It was not pending before, or is not any more, and Config.Held was or will be called.
	c.Cache.Read(func(s *cache.State) { held = held || c.Held(s, namespace) })
	return held, ctx.Err()
}

// Held reports whether a namespace is held to its limits.
func (c *Controller) Held(s *cache.State, namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, held := c.plan(s, namespace)
	return held
}
