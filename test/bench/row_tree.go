package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// measureBuild takes the forest apart in each round, and builds it again.
func measureBuild(ctx context.Context, b *bench) error {
	if err := b.wholeForest(ctx); err != nil {
		return err
	}
	n := b.forest.len()
	var s series
	err := b.each(func(round int) error {
		if err := b.stopped(ctx); err != nil {
			return err
		}
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"%d"}}}`, generation, round)
		labels, err := b.observeRaw(ctx, namespacesResource, fmt.Sprint(round), n)
		if err != nil {
			return err
		}
		raw, err := rawWriter{b}.raw(ctx, n, []*observation{labels}, func(ctx context.Context, i int) error {
			_, err := b.kube.CoreV1().Namespaces().Patch(ctx, b.forest.names[i], types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
		if err != nil {
			return err
		}
		if err := b.up(ctx); err != nil {
			return err
		}
		if err := b.dismantle(ctx, b.forest); err != nil {
			return err
		}
		err = profiler{b}.profiled(ctx, "build", func() error {
			took, err := b.setParents(ctx, b.forest, 0)
			s.add(took.Seconds(), raw.Seconds())
			return err
		})
		if err != nil {
			return err
		}
		return b.labelled(ctx, b.forest.chains(0))
	})
	if err != nil {
		return err
	}
	return b.report("build", "s", n, s, ratioAtMost(1.5))
}

// dismantle makes all namespaces of a tree roots, the last ones first.
func (b *bench) dismantle(ctx context.Context, t tree) error {
	_, _, err := load(ctx, t.len(), func(ctx context.Context, i int) error {
		err := b.hierarchy.HncV1beta1().Hierarchies(t.names[t.len()-1-i]).Delete(ctx, hnc.Singleton, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := b.metered().idle(ctx); err != nil {
		return err
	}
	roots := map[string]chain{}
	for _, name := range t.names {
		roots[name] = chain{name}
	}
	return b.labelled(ctx, roots)
}

// measureParent moves leaves of the forest below another namespace, and back.
func measureParent(ctx context.Context, b *bench) error {
	const other = "bench-other"
	if err := b.wholeForest(ctx); err != nil {
		return err
	}
	if err := b.createNamespaces(ctx, []string{other}); err != nil {
		return err
	}
	if err := b.setParent(ctx, other, b.forest.root()); err != nil {
		return err
	}
	leaves := b.forest.leaves()
	leaves = leaves[:min(len(leaves), b.pick(1600, 20))]
	there, back := map[string]chain{}, map[string]chain{}
	all := b.forest.chains(0)
	for _, i := range leaves {
		name := b.forest.names[i]
		there[name], back[name] = chain{name, other, b.forest.root()}, all[name]
	}
	change, err := b.configMaps(ctx, "bench-config", len(leaves))
	if err != nil {
		return err
	}
	var namespaces []string
	for name := range there {
		namespaces = append(namespaces, name)
	}
	minimal, stop, err := startMinimal(ctx, b, namespaces)
	if err != nil {
		return err
	}
	var p50, p99, floor50 series
	err = b.each(func(round int) error {
		var raw, least, ours []time.Duration
		plain := func() error {
			return b.accounted(ctx, "parent, plain writers", func() (err error) {
				raw, _, err = load(ctx, 2*len(leaves), func(ctx context.Context, i int) error { return change(ctx, i, round) })
				return err
			})
		}
		floor := func() error {
			return b.accounted(ctx, "parent, minimal aggregated API", func() (err error) {
				least, err = minimal.change(ctx, 2*len(leaves), fmt.Sprint("floor", round))
				return err
			})
		}
		move := func() error {
			for _, want := range []map[string]chain{there, back} {
				each, _, err := load(ctx, len(leaves), func(ctx context.Context, i int) error {
					name := b.forest.names[leaves[i]]
					return b.changeParent(ctx, name, want[name][1])
				})
				if err != nil {
					return err
				}
				ours = append(ours, each...)
				if err := errors.Join(b.metered().idle(ctx), b.labelled(ctx, want)); err != nil {
					return err
				}
			}
			return nil
		}
		err := inTurns(round, plain, floor, func() error { return profiler{b}.profiled(ctx, "parent", move) })
		if err != nil {
			return err
		}
		p50.add(percentile(milliseconds(ours), 0.5), percentile(milliseconds(raw), 0.5))
		p99.add(percentile(milliseconds(ours), 0.99), percentile(milliseconds(raw), 0.99))
		floor50.add(percentile(milliseconds(ours), 0.5), percentile(milliseconds(least), 0.5))
		return nil
	})
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	note := fmt.Sprintf("%d clients, forest of %d", writers, b.forest.len())
	return errors.Join(
		b.report("parent-p50", "ms", 2*len(leaves), p50, none, note),
		b.report("parent-p99", "ms", 2*len(leaves), p99, none, note),
		b.report("parent-floor", "ms", 2*len(leaves), floor50, ratioAtMost(1.3), note))
}

// configMaps makes ConfigMaps in a new namespace, and returns how to change one of them, as a parent is changed: by a
// merge patch.
func (b *bench) configMaps(ctx context.Context, namespace string, n int) (change func(ctx context.Context, i, value int) error, err error) {
	if err := b.createNamespaces(ctx, []string{namespace}); err != nil {
		return nil, err
	}
	name := func(i int) string { return fmt.Sprintf("config-%d", i%n) }
	client := b.kube.CoreV1().ConfigMaps(namespace)
	_, _, err = load(ctx, n, func(ctx context.Context, i int) error {
		_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}, metav1.CreateOptions{})
		return err
	})
	return func(ctx context.Context, i, value int) error {
		patch := fmt.Appendf(nil, `{"data":{"parent":"%d-%d"}}`, value, i)
		_, err := client.Patch(ctx, name(i), types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}, err
}
