package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errOver ends requests that are made for as long as something else goes on.
var errOver = errors.New("over")

// measureBeside has 32 clients change ConfigMaps for as long as sources are copied: bulk work of ours beside requests
// that have nothing to do with it.
func measureBeside(ctx context.Context, b *bench) error {
	t, err := b.fan(ctx)
	if err != nil {
		return err
	}
	root, descendants := t.root(), t.names[1:]
	if err := b.up(ctx); err != nil {
		return err
	}
	const maps = 200
	change, err := b.configMaps(ctx, "bench-beside", maps)
	if err != nil {
		return err
	}
	var p50, p99, rate series
	err = b.each(func(round int) error {
		raw, _, err := load(ctx, b.pick(10*maps, maps), func(ctx context.Context, i int) error { return change(ctx, i, round) })
		if err != nil {
			return err
		}
		err = profiler{b}.profiled(ctx, "beside", func() error {
			copying, copied := context.WithCancelCause(ctx)
			var took time.Duration
			go func() {
				var err error
				took, err = propagation{b}.copied(ctx, root, "beside", fmt.Sprint("beside", round), descendants)
				if err == nil {
					err = errOver
				}
				copied(err)
			}()
			beside, err := during(copying, func(ctx context.Context, i int) error { return change(ctx, i, round) })
			if err != nil {
				return err
			}
			p50.add(percentile(milliseconds(beside), 0.5), percentile(milliseconds(raw), 0.5))
			p99.add(percentile(milliseconds(beside), 0.99), percentile(milliseconds(raw), 0.99))
			rate.add(float64(b.Objects*len(b.kinds())*len(descendants))/took.Seconds(), 0)
			return nil
		})
		if err != nil {
			return err
		}
		if err := (propagation{b}).verifyCopies(ctx, root, descendants); err != nil {
			return err
		}
		return propagation{b}.removeSources(ctx, root, "beside", len(descendants))
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d clients, beside %.0f copies/s", writers, median(rate.values))
	return errors.Join(
		b.report("beside-p50", "ms", maps, p50, none, note),
		b.report("beside-p99", "ms", maps, p99, none, note))
}

// during makes requests as load does until the context ends, and returns how long each took. Unless it ends by errOver,
// that is an error.
func during(ctx context.Context, request func(ctx context.Context, i int) error) (each []time.Duration, err error) {
	var mu sync.Mutex
	_, _, err = load(context.WithoutCancel(ctx), 1<<20, func(running context.Context, i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		asked := time.Now()
		if err := request(running, i); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		each = append(each, time.Since(asked))
		return nil
	})
	if errors.Is(err, errOver) {
		err = nil
	}
	return each, err
}
