package configuration

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// How often the kinds are resolved: after an announcement often for some time, because discovery is late; while one is
// missing, rather often; otherwise only to be sure.
const (
	minResolveInterval      = 250 * time.Millisecond
	discoverySettleInterval = time.Second
	discoverySettleDuration = 15 * time.Second
	retryInterval           = 10 * time.Second
	resyncInterval          = time.Minute
)

// Run keeps the watched kinds those that the configuration and the hierarchies name, until the context ends.
func (c *Controller) Run(ctx context.Context) {
	for ctx.Err() == nil {
		start := time.Now()
		cluster, err := c.discover(ctx)
		// The first time, this waits for lists that were requested meanwhile.
		if c.Cache.WaitForConfiguration(ctx) != nil {
			return
		}
		next := discoverySettleInterval
		if err == nil {
			next = c.resolve(ctx, cluster)
		}
		if receive(ctx, c.rediscover, next) {
			receive(ctx, nil, minResolveInterval-time.Since(start))
		}
	}
}

func (c *Controller) discover(ctx context.Context) (Cluster, error) {
	// Requests from now on cause another discovery.
	select {
	case <-c.rediscover:
	default:
	}
	cluster, err := c.Discover(ctx)
	if err != nil {
		klog.FromContext(ctx).Info("Discovery failed and will be retried", "reason", err)
	}
	return cluster, err
}

// receive waits for a token, and reports whether one came in time.
func receive(ctx context.Context, token <-chan struct{}, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-token:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// resolveAgain asks for another resolution of the kinds.
func (c *Controller) resolveAgain() {
	select {
	case c.rediscover <- struct{}{}:
	default:
	}
}

// resolve finds the kinds that the configuration and the hierarchies name, and has them watched. It returns when to do
// so again.
func (c *Controller) resolve(ctx context.Context, cluster Cluster) (next time.Duration) {
	c.Cache.Update(func(s *cache.State) {
		if ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		var old resolution
		if c.resolved != nil {
			old = *c.resolved
		}
		resolved := resolve(s.Configuration, s.Tree.PropagationByNamespace(), cluster, old)
		c.resolved = &resolved
		announced := c.announced
		c.mu.Unlock()

		c.Cache.SetKinds(ctx, s, kinds.All(resolved.Resolution, resolved.Trees))
		c.updateTreeConditions(s)
		c.Enqueue()
		switch {
		case time.Since(announced) < discoverySettleDuration:
			next = discoverySettleInterval
		case resolved.problematic() || cluster.Incomplete != nil:
			next = retryInterval
		default:
			next = resyncInterval
		}
	})
	return next
}
