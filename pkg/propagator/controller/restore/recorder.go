package restore

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// checkpointPeriod is the least time between two checkpoints. Backups that are closer than that to each other are not
// distinguished.
const checkpointPeriod = 5 * time.Second

// Handlers returns the handlers that request a checkpoint when a tree or the configuration has changed, and that
// recognize an earlier state of the cluster.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		TreeChanged: func(_ *cache.State, affected tree.Affected) {
			if len(affected.Moved) > 0 {
				c.request()
			}
		},
		ConfigurationChanged: func(s *cache.State, old *v1beta1.HNCConfiguration) {
			if s.Configuration != nil && old != nil && s.Configuration.Generation != old.Generation {
				c.request()
			}
		},
		NamespaceChanged: func(_ *cache.State, _, ns *tree.Namespace) {
			ids := recorded(ns.Annotations)
			if ns.Name == hnc.SystemNamespace && len(ids) > 0 && c.store.known.Load() != nil && !slices.ContainsFunc(ids, c.store.includes) {
				c.store.markLost()
			}
		},
	}
}

// request requests a checkpoint without waiting.
func (c *Controller) request() {
	select {
	case c.requests <- struct{}{}:
	default: // one is requested already
	}
}

// Record records the requested checkpoints until the context ends.
func (c *Controller) Record(ctx context.Context) {
	if c.Assumed != "" {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.requests:
		}
		if err := c.checkpoint(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Can't record a checkpoint; retrying")
			c.request()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkpointPeriod):
		}
	}
}

// checkpoint records a checkpoint, if the store and the cluster are those of the last one.
func (c *Controller) checkpoint(ctx context.Context) error {
	known := c.store.known.Load()
	if known == nil {
		return nil // There is no namespace to record a store on.
	}
	s, err := c.read(ctx)
	if err != nil || s == nil {
		return err
	}
	if s.config.UID != *known {
		c.store.markLost()
		return errOtherStore
	}
	if m := compare(s.system.Annotations, s.config, s.cluster); m.reason != "" {
		c.store.markLost()
		return fmt.Errorf("%w: %s", errOtherStore, m.message)
	}
	return c.store.record(ctx, s.system, s.config, s.cluster)
}

// withCondition returns the conditions with that of the pause.
func withCondition(present []metav1.Condition, condition metav1.Condition) []metav1.Condition {
	return append(slices.DeleteFunc(slices.Clone(present), func(c metav1.Condition) bool { return c.Type == condition.Type }), condition)
}
