package fence

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// resumableStorage continues watches at revisions before the start of this process. The watch cache rejects them with
// 410 and, while it is initialized, with 429; every client would list again after a restart, and changes that are made
// then would wait for these lists. etcd serves all revisions that are not compacted. The cacher has no option for that.
type resumableStorage struct {
	// Interface is the storage with the watch cache.
	storage.Interface
	uncached storage.Interface
}

// Watch starts a watch, from etcd if the history of the cache does not contain the resourceVersion.
func (s resumableStorage) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	w, err := s.Interface.Watch(ctx, key, opts)
	if opts.ResourceVersion == "" || opts.ResourceVersion == "0" || opts.SendInitialEvents != nil {
		return w, err
	}
	if apierrors.IsTooManyRequests(err) {
		// The cache is not initialized yet.
		return s.watchUncached(ctx, key, opts)
	}
	if err != nil {
		return nil, err
	}
	select {
	case first, ok := <-w.ResultChan():
		if !ok {
			return w, nil
		}
		if first.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(first.Object)) {
			w.Stop()
			return s.watchUncached(ctx, key, opts)
		}
		return withFirst(ctx, w, first), nil
	default:
		// The cache reports an expired resourceVersion at once.
		return w, nil
	}
}

func (s resumableStorage) watchUncached(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	opts.ProgressNotify = opts.Predicate.AllowWatchBookmarks
	return s.uncached.Watch(ctx, key, opts)
}

// withFirst returns a watch whose first event has been received already, with that event. It ends with ctx, too: a
// request that is rejected later does not stop its watch.
func withFirst(ctx context.Context, w watch.Interface, first watch.Event) watch.Interface {
	events := make(chan watch.Event)
	all := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		defer w.Stop()
		for event, ok := first, true; ok; {
			select {
			case events <- event:
			case <-all.StopChan():
				return
			case <-ctx.Done():
				return
			}
			select {
			case event, ok = <-w.ResultChan():
			case <-all.StopChan():
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return all
}
