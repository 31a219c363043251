package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writers is how many requests plain writers have under way.
const writers = 32

// load makes requests 0 to n-1, 32 at a time and each as soon as one of them is answered, and returns how long each
// took, and all of them. The first error ends it.
func load(ctx context.Context, n int, request func(ctx context.Context, i int) error) (each []time.Duration, all time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each = make([]time.Duration, n)
	var next atomic.Int64
	var running sync.WaitGroup
	begun := time.Now()
	for range min(writers, n) {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				asked := time.Now()
				if err := request(ctx, i); err != nil {
					cancel(fmt.Errorf("request %d: %w", i, err))
					return
				}
				each[i] = time.Since(asked)
			}
		})
	}
	running.Wait()
	all = time.Since(begun)
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	return each, all, nil
}

// rawWriter makes the requests that the propagator makes, as fast as kube-apiserver answers them.
type rawWriter struct{ *bench }

// rawObjects has n plain objects in each namespace written, in turn of the kinds, and returns how many, and how long it
// took until a watch had brought the last one. They are what copies are, but nobody's: they lack the label of copies,
// which only the propagator may write.
func (b rawWriter) rawObjects(ctx context.Context, namespaces []string, write func(context.Context, kind, object) error, value string) (int, time.Duration, error) {
	kinds := b.kinds()
	each := len(kinds) * b.Objects
	n := each * len(namespaces)
	var observations []*observation
	for _, k := range kinds {
		o, err := b.observeRaw(ctx, k.GroupVersionResource, value, b.Objects*len(namespaces))
		if err != nil {
			return 0, 0, err
		}
		observations = append(observations, o)
	}
	took, err := b.raw(ctx, n, observations, func(ctx context.Context, i int) error {
		k := kinds[i%each/b.Objects]
		return write(ctx, k, k.named(namespaces[i/each], fmt.Sprintf("raw-%d", i%b.Objects), value))
	})
	return n, took, err
}

// raw makes requests as load does, and returns how long it took until the observations were over: what we do is timed
// in the same way.
func (b rawWriter) raw(ctx context.Context, n int, observations []*observation, request func(ctx context.Context, i int) error) (took time.Duration, err error) {
	err = b.accounted(ctx, b.row+", plain writers", func() error {
		begun := time.Now()
		if _, _, err := load(ctx, n, request); err != nil {
			return err
		}
		took, err = b.waitAll(ctx, begun, observations)
		return err
	})
	return took, err
}

func (b rawWriter) createRaw(ctx context.Context, k kind, o object) error {
	return k.create(ctx, b.kube, o)
}

func (b rawWriter) updateRaw(ctx context.Context, k kind, o object) error {
	return k.update(ctx, b.kube, o)
}

// removeRaw deletes what rawObjects has written.
func (b rawWriter) removeRaw(ctx context.Context, namespaces []string) error {
	var errs []error
	for _, k := range b.kinds() {
		_, _, err := load(ctx, len(namespaces), func(ctx context.Context, i int) error {
			return k.client(b.kube).Delete().Namespace(namespaces[i]).Resource(k.Resource).
				VersionedParams(&metav1.ListOptions{LabelSelector: generation + ",!" + inheritedFrom}, parameters).
				Body(&metav1.DeleteOptions{}).Do(ctx).Error()
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
