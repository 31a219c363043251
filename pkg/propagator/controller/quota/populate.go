package quota

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// computeTimeout is how long the creation of a sub-namespace waits for kube-controller-manager to compute the use of new ResourceQuotas. Until the
// use is computed, kube-apiserver admits everything.
const computeTimeout = 10 * time.Second

// computeInterval is the time between two looks at the cache, which costs no request.
const computeInterval = 20 * time.Millisecond

// Populate writes the ResourceQuotas of a new namespace, and returns when it is held to its limits. If only their use is missing, it returns
// after computeTimeout without an error.
func (c *Controller) Populate(ctx context.Context, namespace string) error {
	if err := c.sync(ctx, namespace); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, computeInterval, computeTimeout, true, func(context.Context) (bool, error) {
		held := false
		c.Cache.Read(func(s *cache.State) {
			c.mu.Lock()
			defer c.mu.Unlock()
			_, held = c.plan(s, namespace)
		})
		return held, nil
	})
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Info("The use of the ResourceQuotas of a new namespace is not computed yet", "namespace", namespace)
	}
	c.updatePending(namespace)
	return ctx.Err()
}
