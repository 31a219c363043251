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

// work does what is queued until the context ends, and the queue is shut down. Work that fails is done again, later and later.
// Work that has begun goes on until the context writing ends.
func (p *Propagator) work(ctx, writing context.Context, q queue.Queue) {
	logger := klog.FromContext(ctx)
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		if ctx.Err() != nil {
			q.Done(key)
			continue // to the end of the queue, which is shut down by now or soon
		}
		switch err := p.do(writing, key); {
		case err == nil:
			q.Forget(key)
		case ctx.Err() != nil:
		default:
			p.logFailure(logger, key, q.NumRequeues(key)+1, err)
			q.AddRateLimited(key)
		}
		q.Done(key)
	}
}

// patience is how often work may fail for a passing reason before it is worth an error in the log.
const patience = 5

func (p *Propagator) logFailure(logger klog.Logger, key queue.Key, failures int, err error) {
	values := []any{"class", key.Class.String(), "namespace", key.Namespace, "name", key.Name, "failures", failures}
	switch {
	case errors.Is(err, errStale) && failures < patience:
		logger.V(4).Info("Repeating what was decided on an outdated picture", append(values, "reason", err)...)
	case !refused(err) && failures < patience:
		logger.V(2).Info("Propagation failed and will be repeated", append(values, "reason", err)...)
	default:
		logger.Error(err, "Propagation failed and will be repeated", values...)
	}
}

func (p *Propagator) do(ctx context.Context, key queue.Key) error {
	switch key.Class {
	case queue.Subnamespace, queue.Namespace, queue.Status:
		defer p.Metrics.NamespaceWork()()
	}
	switch key.Class {
	case queue.Subnamespace:
		return p.subnamespace(ctx, tree.Key{Parent: key.Namespace, Name: key.Name})
	case queue.Namespace:
		return p.labels(ctx, key.Namespace)
	case queue.Status:
		return p.status(ctx, key.Namespace)
	case queue.Release:
		return p.processRelease(ctx, key.Namespace, key.Name)
	case queue.Configuration:
		return p.configurationStatus(ctx)
	case queue.Source:
		p.source(key)
		return nil
	case queue.Strays:
		p.strays(key.Kind)
		return nil
	case queue.Destination:
		return p.destination(ctx, key.Namespace)
	case queue.Copy:
		return p.copy(ctx, key)
	}
	return fmt.Errorf("unknown class of work %d", key.Class)
}
