package propagator

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// errStale says that something was decided on an outdated picture. It is not worth a line in the log.
var errStale = errors.New("the picture is outdated")

// work does what is queued until the queue is shut down. Work that fails is done again, later and later.
func (p *Propagator) work(ctx context.Context, q queue.Queue) {
	logger := klog.FromContext(ctx)
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		switch err := p.do(ctx, key); {
		case err == nil:
			q.Forget(key)
		case ctx.Err() != nil:
		default:
			if errors.Is(err, errStale) {
				logger.V(4).Info("Repeating what was decided on an outdated picture", "class", key.Class, "namespace", key.Namespace, "name", key.Name, "reason", err)
			} else {
				logger.Error(err, "Propagation failed and will be repeated", "class", key.Class, "namespace", key.Namespace, "name", key.Name, "failures", q.NumRequeues(key)+1)
			}
			q.AddRateLimited(key)
		}
		q.Done(key)
	}
}

func (p *Propagator) do(ctx context.Context, key queue.Key) error {
	switch key.Class {
	case queue.Subnamespace:
		return p.subnamespace(ctx, tree.Key{Parent: key.Namespace, Name: key.Name})
	case queue.Namespace:
		return p.labels(ctx, key.Namespace)
	case queue.Status:
		return p.status(ctx, key.Namespace)
	case queue.Source:
		p.source(key)
		return nil
	case queue.Destination:
		return p.destination(ctx, key.Namespace)
	case queue.Copy:
		return p.copy(ctx, key)
	}
	return fmt.Errorf("unknown class of work %d", key.Class)
}
