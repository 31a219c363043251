package fence

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// resuming lets who watched before this process started watch on. The watch cache knows nothing of that time, and would have everybody list
// everything again, when a change that is made then has to wait; etcd remembers all that has not been compacted.
type resuming struct {
	storage.Interface
	// past is the storage without the cache.
	past storage.Interface
}

// Watch begins to watch, past the cache if its history does not reach back to the version.
func (s resuming) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	w, err := s.Interface.Watch(ctx, key, opts)
	if opts.ResourceVersion == "" || opts.ResourceVersion == "0" || opts.SendInitialEvents != nil {
		return w, err
	}
	if apierrors.IsTooManyRequests(err) {
		// The cache is being filled.
		return s.watchPast(ctx, key, opts)
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
			return s.watchPast(ctx, key, opts)
		}
		return begun(w, first), nil
	default:
		// What is wrong is told at once.
		return w, nil
	}
}

func (s resuming) watchPast(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	opts.ProgressNotify = opts.Predicate.AllowWatchBookmarks
	return s.past.Watch(ctx, key, opts)
}

// begun returns a watch of which the first event has been taken, with that event.
func begun(w watch.Interface, first watch.Event) watch.Interface {
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
			}
			select {
			case event, ok = <-w.ResultChan():
			case <-all.StopChan():
				return
			}
		}
	}()
	return all
}
