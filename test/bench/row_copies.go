package main

import (
	"context"
	"fmt"
	"time"
)

// fan returns the tree that copies are measured in: a part of the forest's size below one root.
func (b *bench) fan(ctx context.Context) (tree, error) {
	if b.fanned.len() == 0 {
		t, err := b.subtree(ctx, "fan", b.part()+1)
		if err != nil {
			return t, err
		}
		b.fanned = t
	}
	return b.fanned, nil
}

// measureCopies returns what measures how fast sources are copied, against a target.
func measureCopies(limit target) measurement {
	return func(ctx context.Context, b *bench) error { return copying(ctx, b, limit) }
}

func copying(ctx context.Context, b *bench, limit target) error {
	t, err := b.fan(ctx)
	if err != nil {
		return err
	}
	root, descendants := t.root(), t.names[1:]
	var s series
	var n int
	err = b.each(func(round int) error {
		var raw, took time.Duration
		plain := func() (err error) {
			if err := b.stopped(ctx); err != nil {
				return err
			}
			if n, raw, err = (rawWriter{b}).rawObjects(ctx, descendants, rawWriter{b}.createRaw, fmt.Sprint("raw", round)); err != nil {
				return err
			}
			return rawWriter{b}.removeRaw(ctx, descendants)
		}
		ours := func() error {
			if err := b.up(ctx); err != nil {
				return err
			}
			if err := (profiler{b}).profiled(ctx, b.row, func() (err error) {
				took, err = propagation{b}.copied(ctx, root, "copies", fmt.Sprint("copies", round), descendants)
				return err
			}); err != nil {
				return err
			}
			if err := (propagation{b}).verifyCopies(ctx, root, descendants); err != nil {
				return err
			}
			return propagation{b}.removeSources(ctx, root, "copies", len(descendants))
		}
		err := inTurns(round, plain, ours)
		s.add(float64(n)/took.Seconds(), float64(n)/raw.Seconds())
		return err
	})
	if err != nil {
		return err
	}
	return b.report(b.row, "copies/s", n, s, limit)
}

// measureChange returns what measures how fast a changed source is copied, against a target.
func measureChange(limit target) measurement {
	return func(ctx context.Context, b *bench) error { return changing(ctx, b, limit) }
}

func changing(ctx context.Context, b *bench, most target) error {
	t, err := b.fan(ctx)
	if err != nil {
		return err
	}
	root, descendants, k := t.root(), t.names[1:], b.kinds()[0]
	n := len(descendants)
	raw := func(write func(context.Context, kind, object) error, value string) (time.Duration, error) {
		o, err := b.observeRaw(ctx, k.GroupVersionResource, value, n)
		if err != nil {
			return 0, err
		}
		return rawWriter{b}.raw(ctx, n, []*observation{o}, func(ctx context.Context, i int) error {
			return write(ctx, k, k.named(descendants[i], "raw-0", value))
		})
	}
	ours := func(write func(context.Context, kind, object) error, value string) (time.Duration, error) {
		o, err := b.observeCopies(ctx, k, root, value, n)
		if err != nil {
			return 0, err
		}
		begun := time.Now()
		if err := write(ctx, k, k.named(root, "change-0", value)); err != nil {
			return 0, err
		}
		took, err := b.waitAll(ctx, begun, []*observation{o})
		if err != nil {
			return 0, err
		}
		return took, propagation{b}.verifyKind(ctx, k, root, descendants)
	}
	if _, err := ours((rawWriter{b}).createRaw, "change"); err != nil {
		return err
	}
	var s series
	err = often(b, func(round int) error {
		var limit, took time.Duration
		err := inTurns(round, func() (err error) {
			if err := b.stopped(ctx); err != nil {
				return err
			}
			if _, err := raw((rawWriter{b}).createRaw, "raw"); err != nil {
				return err
			}
			if limit, err = raw(rawWriter{b}.updateRaw, fmt.Sprint("raw", round)); err != nil {
				return err
			}
			// Before we are back: in a namespace with children these would be sources.
			return rawWriter{b}.removeRaw(ctx, descendants)
		}, func() error {
			if err := b.up(ctx); err != nil {
				return err
			}
			return profiler{b}.profiled(ctx, b.row, func() (err error) {
				took, err = ours(rawWriter{b}.updateRaw, fmt.Sprint("change", round))
				return err
			})
		})
		s.add(took.Seconds(), limit.Seconds())
		return err
	})
	if err != nil {
		return err
	}
	if err := k.delete(ctx, b.kube, root, "change-0"); err != nil {
		return err
	}
	return b.report(b.row, "s", n, s, most)
}

// measureUnrelated writes objects of a kind that we propagate, in namespaces that are in no tree.
func measureUnrelated(ctx context.Context, b *bench) error {
	if err := b.wholeForest(ctx); err != nil {
		return err
	}
	names := make([]string, writers)
	for i := range names {
		names[i] = fmt.Sprintf("unrelated-%02d", i)
	}
	if err := b.createNamespaces(ctx, names); err != nil {
		return err
	}
	k, n := b.kinds()[0], b.part()*b.Objects
	write := func(value string) (float64, error) {
		_, all, err := load(ctx, n, func(ctx context.Context, i int) error {
			return k.create(ctx, b.kube, k.named(names[i%len(names)], fmt.Sprintf("unrelated-%d", i), value))
		})
		if err != nil {
			return 0, err
		}
		return float64(n) / all.Seconds(), rawWriter{b}.removeRaw(ctx, names)
	}
	var s series
	err := often(b, func(round int) error {
		var without, with float64
		err := inTurns(round, func() error {
			if err := b.uninstalled(ctx); err != nil {
				return err
			}
			return b.accounted(ctx, "unrelated, without HNS", func() error {
				return profiler{b}.profile(ctx, "unrelated-without-us", func() (err error) {
					without, err = write(fmt.Sprint("without", round))
					return err
				})
			})
		}, func() error {
			if err := b.up(ctx); err != nil {
				return err
			}
			return profiler{b}.profiled(ctx, "unrelated", func() (err error) {
				with, err = write(fmt.Sprint("with", round))
				return err
			})
		})
		s.add(with, without)
		return err
	})
	if err != nil {
		return err
	}
	return b.report("unrelated", "writes/s", n, s, ratioAtLeast(0.95))
}
