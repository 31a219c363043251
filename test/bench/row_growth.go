package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// growth is what one leaf and one object cost at one size, and what the writes cost that it takes at least, without us.
type growth struct{ leaf, object, plainLeaf, plainObject series }

// sizes are a hundredth, a tenth and all of the forest's size.
func (b *bench) sizes() []int {
	return []int{max(b.Namespaces/100, 10), max(b.Namespaces/10, 20), b.Namespaces}
}

// measureGrowth measures at a hundredth and a tenth of the forest's size, with as many copies in each namespace as the
// whole forest has later.
func measureGrowth(ctx context.Context, b *bench) error {
	full := propagation{b.full()}
	for i, size := range b.sizes()[:2] {
		if err := b.forestOf(ctx, size); err != nil {
			return err
		}
		root := b.forest.root()
		if i == 0 {
			if err := b.createNamespaces(ctx, []string{growthAbove, growthBelow}); err != nil {
				return err
			}
			if err := errors.Join(b.setParent(ctx, growthAbove, root), b.setParent(ctx, growthBelow, growthAbove)); err != nil {
				return err
			}
		}
		descendants, err := b.below(ctx, root)
		if err != nil {
			return err
		}
		if _, err := full.copied(ctx, root, "growth", "growth", descendants); err != nil {
			return err
		}
		if err := (growing{b}).measure(ctx, size); err != nil {
			return err
		}
		// The forest grows without copies, and the leaves that were added have some too.
		if descendants, err = b.below(ctx, root); err != nil {
			return err
		}
		if err := full.removeSources(ctx, root, "growth", len(descendants)); err != nil {
			return err
		}
	}
	return nil
}

// measureGrown measures in the whole forest with all copies, and reports all sizes.
func measureGrown(ctx context.Context, b *bench) error {
	if len(b.grown) != 2 {
		return errors.New("select growth too, which measures what this is compared with")
	}
	if err := b.populate(ctx); err != nil {
		return err
	}
	if err := (growing{b}).measure(ctx, b.Namespaces); err != nil {
		return err
	}
	return growing{b}.report(b.sizes(), b.grown)
}

// Sources in the first of these are copied to the second, and to no other.
const growthAbove, growthBelow = "growth-above", "growth-below"

// growing measures one leaf and one object.
type growing struct{ *bench }

// measure measures at one size.
func (b growing) measure(ctx context.Context, size int) error {
	if err := b.metered().idle(ctx); err != nil {
		return err
	}
	var g growth
	err := b.each(func(round int) error {
		return profiler(b).profiled(ctx, fmt.Sprintf("growth-%d", size), func() error {
			return b.round(ctx, fmt.Sprintf("growth-%d-%d", size, round), &g)
		})
	})
	b.grown = append(b.grown, g)
	return err
}

// round adds a round.
func (b growing) round(ctx context.Context, prefix string, g *growth) error {
	root, n := b.forest.root(), b.pick(20, 2)
	for _, each := range []struct {
		to      *series
		measure func(name string) (time.Duration, error)
	}{
		{&g.leaf, func(name string) (time.Duration, error) { return b.addLeaf(ctx, name, root) }},
		{&g.object, func(name string) (time.Duration, error) { return b.addObject(ctx, name) }},
		{&g.plainLeaf, func(name string) (time.Duration, error) { return b.labelNamespace(ctx, name) }},
		{&g.plainObject, func(name string) (time.Duration, error) { return b.createObject(ctx, name) }},
	} {
		value, err := repeat(n, func(i int) (time.Duration, error) { return each.measure(fmt.Sprintf("%s-%d", prefix, i)) })
		if err != nil {
			return err
		}
		each.to.values = append(each.to.values, value)
	}
	return nil
}

// report compares each size with a tenth of the forest.
func (b growing) report(sizes []int, grown []growth) error {
	const tenth, all = 1, 2
	limits := map[int]target{all: ratioAtMost(1.15)}
	var errs []error
	for i, size := range sizes {
		note := fmt.Sprintf("at %d namespaces; raw is at %d", size, sizes[tenth])
		for _, each := range []struct {
			name   string
			of     func(growth) series
			target target
		}{
			{"leaf", func(g growth) series { return g.leaf }, limits[i]},
			{"object", func(g growth) series { return g.object }, limits[i]},
			{"plain-leaf", func(g growth) series { return g.plainLeaf }, none},
			{"plain-object", func(g growth) series { return g.plainObject }, none},
		} {
			s := each.of(grown[i])
			s.against(median(each.of(grown[tenth]).values))
			errs = append(errs, b.bench.report(fmt.Sprintf("growth-%s-%d", each.name, size), "ms", b.pick(20, 2), s, each.target, note))
		}
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

// addLeaf makes a namespace, and returns how long it takes from giving it the root as its parent until its labels say
// so.
func (b growing) addLeaf(ctx context.Context, name, root string) (time.Duration, error) {
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
func (b growing) addObject(ctx context.Context, name string) (time.Duration, error) {
	k := b.kinds()[0]
	o, err := b.observeCopies(ctx, k, growthAbove, name, 1)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := k.create(ctx, b.kube, k.named(growthAbove, name, name)); err != nil {
		return 0, err
	}
	took, err := b.waitAll(ctx, begun, []*observation{o})
	if err != nil {
		return 0, err
	}
	return took, propagation(b).verifyKind(ctx, k, growthAbove, []string{growthBelow})
}

// labelNamespace returns how long it takes from labelling the namespace that addLeaf has made until a watch shows it.
func (b growing) labelNamespace(ctx context.Context, name string) (time.Duration, error) {
	o, err := b.observeRaw(ctx, namespacesResource, name, 1)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, generation, name)
	if _, err := b.kube.CoreV1().Namespaces().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return 0, err
	}
	return b.waitAll(ctx, begun, []*observation{o})
}

// createObject returns how long it takes from creating an object in a namespace that has no tree until a watch shows
// it.
func (b growing) createObject(ctx context.Context, name string) (time.Duration, error) {
	k := b.kinds()[0]
	o, err := b.observeRaw(ctx, k.GroupVersionResource, name+"-plain", 1)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := k.create(ctx, b.kube, k.named(metav1.NamespaceDefault, name, name+"-plain")); err != nil {
		return 0, err
	}
	return b.waitAll(ctx, begun, []*observation{o})
}
