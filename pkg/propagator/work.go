package propagator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// work reconciles the queued keys until the context ends and the queue is shut down. Failed keys are retried with a
// back-off. A reconciliation that has begun goes on until the context writing ends.
func (m *Manager) work(ctx, writing context.Context, q queue.Queue) {
	logger := klog.FromContext(ctx)
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		if ctx.Err() != nil {
			q.Done(key)
			continue // Drains the queue, which is shut down by now or soon.
		}
		m.busy.Add(1)
		err := m.reconcile(writing, key)
		// The kinds are resolved, and the status of the configuration evaluated, every second for a while after the
		// start. What that finds is work.
		if key.Class != queue.Configuration {
			m.worked.Store(time.Now().UnixNano())
		}
		m.busy.Add(-1)
		switch {
		case err == nil:
			q.Forget(key)
		case ctx.Err() != nil:
		case errors.Is(err, outcome.ErrWaiting): // The back-off of earlier failures stays.
		case errors.Is(err, outcome.ErrUnfinished):
			q.Add(key) // The back-off of earlier failures stays.
		default:
			logFailure(logger, key, q.NumRequeues(key)+1, err)
			q.AddRateLimited(key)
		}
		q.Done(key)
	}
}

func (m *Manager) reconcile(ctx context.Context, key queue.Key) error {
	reconcile, ok := m.reconcileClass[key.Class]
	if !ok {
		return fmt.Errorf("no controller reconciles class %d", key.Class)
	}
	return reconcile(ctx, key)
}

// toleratedFailures is how often a reconciliation may fail for a transient reason before that is logged as an error.
const toleratedFailures = 5

func logFailure(logger klog.Logger, key queue.Key, failures int, err error) {
	values := []any{"class", key.Class.String(), "namespace", key.Namespace, "name", names.Shorten(key.Name), "failures", failures}
	reason := errors.New(names.ShortenText(err.Error()))
	switch {
	case outcome.Paced(err):
		logger.V(4).Info("Reconciliation waits to try a write", append(values, "reason", reason)...)
	case errors.Is(err, outcome.ErrStale) && failures < toleratedFailures:
		logger.V(4).Info("Reconciliation was based on an outdated cache and will be retried", append(values, "reason", reason)...)
	case !outcome.Rejected(err) && failures < toleratedFailures:
		logger.V(2).Info("Reconciliation failed and will be retried", append(values, "reason", reason)...)
	default:
		logger.Error(reason, "Reconciliation failed and will be retried", values...)
	}
}
