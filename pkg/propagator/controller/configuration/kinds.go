package configuration

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
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
		resolution := resolveConfiguration(s.Configuration, cluster, old)
		var onConflict v1beta1.ConflictPolicy
		if s.Configuration != nil {
			onConflict = s.Configuration.Spec.OnConflict
		}
		trees := resolveTrees(s.Tree.PropagationByNamespace(), onConflict, cluster, c.trees)
		c.resolved, c.trees = &resolution, trees
		announced := c.announced
		c.mu.Unlock()

		c.Cache.SetKinds(ctx, s, wantedKinds(resolution.Entries, trees))
		c.updateTreeConditions(s)
		c.Enqueue()
		switch {
		case time.Since(announced) < discoverySettleDuration:
			next = discoverySettleInterval
		case len(resolution.Problems) > 0 || trees.Problematic() || cluster.Incomplete != nil:
			next = retryInterval
		default:
			next = resyncInterval
		}
	})
	return next
}

// wantedKinds returns the kinds that the configuration names, then those that only trees name, with their policies.
func wantedKinds(entries []resolvedEntry, trees treeResolutions) []*cache.WantedKind {
	var all []*cache.WantedKind
	byKind := map[schema.GroupResource]*cache.WantedKind{}
	of := func(kind copies.Kind) *cache.WantedKind {
		w := byKind[kind.GroupResource()]
		if w == nil {
			w = &cache.WantedKind{Kind: kind, Policies: copies.Policies{Cluster: copies.Policy{Mode: v1beta1.Ignore}, Trees: map[string]copies.Policy{}}}
			byKind[kind.GroupResource()] = w
			all = append(all, w)
		}
		return w
	}
	for _, e := range entries {
		of(e.Kind).Cluster = e.Policy
	}
	for _, namespace := range slices.Sorted(maps.Keys(trees)) {
		for _, e := range trees[namespace].Entries {
			of(e.Kind).Trees[namespace] = e.Policy
		}
	}
	return all
}
