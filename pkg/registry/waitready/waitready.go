// Package waitready has a write return when the propagator has put into effect what was written.
package waitready

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// Waiter has requests wait. Its zero value has none wait.
type Waiter struct {
	// Timeout is how long a request waits at most.
	Timeout time.Duration
	// Free is how long it waits without one of the Slots. A request that waits longer occupies kube-apiserver, too, and
	// users can have requests wait in vain.
	Free  time.Duration
	Slots *inflight.Limiter
	// Stopped says why nothing that is written takes effect for now, "" if it does.
	Stopped func(context.Context) string
}

// Object is what a request has written.
type Object interface {
	runtime.Object
	metav1.Object
}

// Effect is what a request waits for: a condition that is True for the generation that was written.
type Effect[T Object] struct {
	// Resource is the resource of the objects.
	Resource string
	// Condition is the type of the condition.
	Condition string
	// Conditions returns the conditions of an object.
	Conditions func(T) []metav1.Condition
	// Pending are the reasons with which the condition is False for now. Any other reason ends the wait.
	Pending []string
	// Warned are the reasons with which it is False only because of what the write itself has warned of. All else is in
	// effect.
	Warned []string
	// Without says what does not hold without the effect.
	Without func(T) string
	// Complete, unless it is nil, is called when the condition is True, or False for a reason in Warned, and returns
	// when the effect is complete.
	Complete func(context.Context, T) error
}

// Wait returns the written object as it is when it has its effect, or can't have it. The client gets a warning if it
// has none, and no error: the object is stored, and the propagator continues. An object whose condition reports for its
// generation already whether it has its effect was written without a change of its specification.
func Wait[T Object](ctx context.Context, w Waiter, store rest.Watcher, object T, effect Effect[T]) T {
	if w.Timeout <= 0 || object.GetDeletionTimestamp() != nil || effect.settled(object) {
		return object
	}
	latest := object
	err := w.Until(ctx, func(ctx context.Context) (err error) {
		latest, err = await(ctx, store, object, effect)
		return err
	})
	if err != nil {
		warning.AddWarning(ctx, "", fmt.Sprintf("%s: %v; see the conditions of %s.%s %q in namespace %q",
			effect.Without(object), err, effect.Resource, hnc.GroupName, object.GetName(), object.GetNamespace()))
	}
	return latest
}

// Until calls complete, which returns when what was written has its effect or when its context ends. It returns why
// that is not known.
func (w Waiter) Until(ctx context.Context, complete func(context.Context) error) error {
	if w.Timeout <= 0 {
		return nil
	}
	if why := w.Stopped(ctx); why != "" {
		return errors.New(why)
	}
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	var err error
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		err = complete(ctx)
	}()
	free := time.NewTimer(w.Free)
	defer free.Stop()
	select {
	case <-done:
	case <-free.C:
		release, busy := w.Slots.Acquire(ctx)
		if busy != nil {
			cancel()
			<-done
			return errNoSlot
		}
		defer release()
		<-done
	}
	if panicked != nil {
		panic(panicked) // Here the request's handler recovers it; in a goroutine of its own it would end the server.
	}
	if err != nil && ctx.Err() != nil {
		return errTooLong
	}
	return err
}

var (
	errNoSlot  = errors.New("this server has as many waiting requests, of this user or in total, as it may have")
	errTooLong = errors.New("it takes longer than this request waits")
)

// reported returns the condition if it is one of the object's generation.
func (e Effect[T]) reported(object T) *metav1.Condition {
	c := meta.FindStatusCondition(e.Conditions(object), e.Condition)
	if c == nil || c.ObservedGeneration != object.GetGeneration() {
		return nil
	}
	return c
}

// settled reports whether the object is known to have its effect or to have none, without more to wait for.
func (e Effect[T]) settled(object T) bool {
	c := e.reported(object)
	return c != nil && c.Status != metav1.ConditionUnknown && (c.Status == metav1.ConditionTrue || !slices.Contains(e.Pending, c.Reason))
}

// await returns the object when it has its effect, or the last known one and an error that says why it has not.
func await[T Object](ctx context.Context, store rest.Watcher, object T, effect Effect[T]) (T, error) {
	events, err := store.Watch(ctx, &metainternalversion.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector("metadata.name", object.GetName()),
		ResourceVersion: object.GetResourceVersion(),
	})
	if err != nil {
		return object, err
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return object, ctx.Err()
		case event, ok := <-events.ResultChan():
			if !ok || event.Type == watch.Error {
				return object, errors.New("the wait for it was interrupted")
			}
			received := event.Object
			if cached, ok := received.(runtime.CacheableObject); ok {
				received = cached.GetObject() // the watch cache wraps objects for several watchers
			}
			latest, ok := received.(T)
			if !ok || latest.GetUID() != object.GetUID() {
				continue
			}
			if event.Type == watch.Deleted || latest.GetDeletionTimestamp() != nil {
				return latest, errors.New("it is being deleted")
			}
			if latest.GetGeneration() != object.GetGeneration() {
				return latest, errors.New("it was changed by another request")
			}
			object = latest
			if !effect.settled(object) {
				continue
			}
			c := effect.reported(object)
			switch {
			case c.Status == metav1.ConditionTrue || slices.Contains(effect.Warned, c.Reason):
				if effect.Complete == nil {
					return object, nil
				}
				return object, effect.Complete(ctx, object)
			default:
				return object, errors.New(c.Message)
			}
		}
	}
}
