package cache

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// unavailablePeriod is the time between attempts to watch while our API server is away. A change may wait for that.
const unavailablePeriod = 250 * time.Millisecond

// guard keeps anything of another store of hierarchies, or of an earlier state of the cluster, out of the state.
type guard struct {
	// check is CheckStore or CheckCluster of the Config.
	check     func(context.Context) (resourceVersion string, err error)
	readiness *readiness
}

// watch makes a watch fail if the API server has another store than the one that the state reflects.
func (g guard) watch(resource string, f watchFunc) watchFunc {
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		for {
			w, err := g.watchSameStore(ctx, f, o)
			if o.ResourceVersion == "" || !apierrors.IsServiceUnavailable(err) {
				return w, err
			}
			// A reflector would list everything again, although it can go on from its last version once the API server
			// is back. Only if it could not connect would it wait.
			klog.FromContext(ctx).V(4).Info("Can't watch yet", "reason", err)
			g.readiness.requested(resource, err)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(unavailablePeriod):
			}
		}
	}
}

func (g guard) watchSameStore(ctx context.Context, f watchFunc, o metav1.ListOptions) (watch.Interface, error) {
	now, err := g.check(ctx)
	if err != nil {
		return nil, err
	}
	if cmp, err := resourceversion.CompareResourceVersion(o.ResourceVersion, now); err == nil && cmp > 0 {
		return nil, apierrors.NewResourceExpired("the store is back at an earlier version")
	}
	return f(ctx, o)
}

// list does the same for a list.
func (g guard) list(f cache.ListWithContextFunc) cache.ListWithContextFunc {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if _, err := g.check(ctx); err != nil {
			return nil, err
		}
		return f(ctx, o)
	}
}
