package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// measureGrowth measures at a hundredth, a tenth and all of the forest's size.
func measureGrowth(ctx context.Context, b *bench) error {
	const above, below = "growth-above", "growth-below"
	var leaves, objects []series
	var sizes []int
	for _, size := range []int{max(b.Namespaces/100, 10), max(b.Namespaces/10, 20), b.Namespaces} {
		if err := b.forestOf(ctx, size); err != nil {
			return err
		}
		root := b.forest.root()
		if len(sizes) == 0 {
			if err := b.createNamespaces(ctx, []string{above, below}); err != nil {
				return err
			}
			if err := errors.Join(b.setParent(ctx, above, root), b.setParent(ctx, below, above)); err != nil {
				return err
			}
		}
		if err := b.metered().idle(ctx); err != nil {
			return err
		}
		var leaf, object series
		err := b.each(func(round int) error {
			return profiler{b}.profiled(ctx, fmt.Sprintf("growth-%d", size), func() error {
				oneLeaf, err := repeat(b.pick(20, 2), func(i int) (time.Duration, error) {
					return b.addLeaf(ctx, fmt.Sprintf("growth-leaf-%d-%d-%d", size, round, i), root)
				})
				if err != nil {
					return err
				}
				oneObject, err := repeat(b.pick(20, 2), func(i int) (time.Duration, error) {
					return b.addObject(ctx, above, below, fmt.Sprintf("growth-%d-%d-%d", size, round, i))
				})
				if err != nil {
					return err
				}
				leaf.values, object.values = append(leaf.values, oneLeaf), append(object.values, oneObject)
				return nil
			})
		})
		if err != nil {
			return err
		}
		sizes, leaves, objects = append(sizes, size), append(leaves, leaf), append(objects, object)
	}
	var errs []error
	for i, size := range sizes {
		leaves[i].against(median(leaves[0].values))
		objects[i].against(median(objects[0].values))
		note := fmt.Sprintf("at %d namespaces; raw is at %d", size, sizes[0])
		errs = append(errs,
			b.report(fmt.Sprintf("growth-leaf-%d", size), "ms", b.pick(20, 2), leaves[i], ratioAtMost(1.5), note),
			b.report(fmt.Sprintf("growth-object-%d", size), "ms", b.pick(20, 2), objects[i], ratioAtMost(1.5), note))
	}
	return errors.Join(errs...)
}

// repeat returns the median of n measurements, one after another, in milliseconds.
func repeat(n int, measure func(i int) (time.Duration, error)) (float64, error) {
	all := make([]time.Duration, n)
	for i := range all {
		var err error
		if all[i], err = measure(i); err != nil {
			return 0, err
		}
	}
	return median(milliseconds(all)), nil
}

// addLeaf makes a namespace, and returns how long it takes from giving it the root as its parent until its labels say so.
func (b *bench) addLeaf(ctx context.Context, name, root string) (time.Duration, error) {
	if err := b.createNamespaces(ctx, []string{name}); err != nil {
		return 0, err
	}
	labels, err := b.observeLabels(ctx, map[string]chain{name: {name, root}})
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := b.setParent(ctx, name, root); err != nil {
		return 0, err
	}
	return b.waitAll(ctx, begun, []*observation{labels})
}

// addObject makes a source, and returns how long it takes until its copy is in the one namespace below.
func (b *bench) addObject(ctx context.Context, above, below, name string) (time.Duration, error) {
	k := b.kinds()[0]
	o, err := b.observeCopies(ctx, k, above, name, 1)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := k.create(ctx, b.kube, k.named(above, name, name)); err != nil {
		return 0, err
	}
	took, err := b.waitAll(ctx, begun, []*observation{o})
	if err != nil {
		return 0, err
	}
	return took, propagation{b}.verifyKind(ctx, k, above, []string{below})
}
