package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// measureWatches has 200 clients watch the objects of a subtree, against as many that watch one namespace, and measures
// how long it takes from the creation of an object until each of them has it.
func measureWatches(ctx context.Context, b *bench, top string) error {
	k, leaf := b.kinds()[0], b.forest.leafBelow(top)
	watchers := b.pick(200, 4)
	var p50, p99 series
	err := b.each(func(round int) error {
		return profiler{b}.profiled(ctx, "reads-watches", func() error {
			var took [2][]float64
			for side, from := range []watched{{b, acrossSubtree(k.GroupVersionResource), top, leaf}, {b, k.GroupVersionResource, leaf, leaf}} {
				delays, err := from.measure(ctx, watchers, b.pick(20, 2), fmt.Sprintf("watched-%d-%d", round, side))
				if err != nil {
					return err
				}
				took[side] = milliseconds(delays)
			}
			p50.add(percentile(took[0], 0.5), percentile(took[1], 0.5))
			p99.add(percentile(took[0], 0.99), percentile(took[1], 0.99))
			return nil
		})
	})
	if err != nil {
		return err
	}
	about := fmt.Sprintf("%d watches; raw watches one namespace", watchers)
	return errors.Join(b.report("reads-watch-p50", "ms", watchers, p50, none, about), b.report("reads-watch-p99", "ms", watchers, p99, none, about))
}

// watched is a resource that is watched at a namespace while objects come into a leaf below it.
type watched struct {
	*bench
	resource        schema.GroupVersionResource
	namespace, leaf string
}

// measure makes objects, one after another, and returns how long each took to each of n watches.
func (b watched) measure(ctx context.Context, n, objects int, prefix string) ([]time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	list, err := b.dynamic.Resource(b.resource).Namespace(b.namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	seen := make(chan time.Time, n)
	failed := make(chan error, n)
	for i := range n {
		// A user may have 100 watches.
		w, err := []dynamic.Interface{b.dynamic, b.admin.dynamic}[i%2].Resource(b.resource).Namespace(b.namespace).
			Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			return nil, err
		}
		defer w.Stop()
		go receive(w, prefix, seen, failed)
	}
	k := b.kinds()[0]
	var delays []time.Duration
	for i := range objects {
		begun := time.Now()
		if err := k.create(ctx, b.kube, k.named(b.leaf, fmt.Sprintf("%s-%d", prefix, i), prefix)); err != nil {
			return nil, err
		}
		for range n {
			select {
			case at := <-seen:
				delays = append(delays, at.Sub(begun))
			case err := <-failed:
				return nil, err
			case <-time.After(b.Timeout):
				return nil, fmt.Errorf("%d of %d watches have seen object %d", len(delays)-i*n, n, i)
			}
		}
	}
	for i := range objects {
		if err := k.delete(ctx, b.kube, b.leaf, fmt.Sprintf("%s-%d", prefix, i)); err != nil {
			return nil, err
		}
	}
	return delays, nil
}

// receive sends the time of each new object whose name has the prefix.
func receive(w watch.Interface, prefix string, seen chan<- time.Time, failed chan<- error) {
	for event := range w.ResultChan() {
		object, err := meta.Accessor(event.Object)
		switch {
		case event.Type == watch.Error:
			failed <- apierrors.FromObject(event.Object)
			return
		case err == nil && event.Type == watch.Added && len(object.GetName()) > len(prefix) && object.GetName()[:len(prefix)] == prefix:
			seen <- time.Now()
		}
	}
	failed <- errors.New("a watch has ended")
}
