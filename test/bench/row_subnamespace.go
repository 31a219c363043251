package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// measureSubnamespace makes namespaces one after another, both ways.
func measureSubnamespace(ctx context.Context, b *bench) error {
	const parent = "subnamespace-parent"
	if err := b.wholeForest(ctx); err != nil {
		return err
	}
	if err := b.createNamespaces(ctx, []string{parent}); err != nil {
		return err
	}
	if err := b.setParent(ctx, parent, b.forest.root()); err != nil {
		return err
	}
	if err := (propagation{b}).writeSources(ctx, parent, "inherited", "subnamespace"); err != nil {
		return err
	}
	if err := b.metered().idle(ctx); err != nil {
		return err
	}
	// What is resident in the whole forest is inherited, too.
	all := *b
	if b.filled != nil {
		all.Objects += b.full().Objects
	}
	made := newNamespaces{&all}
	n := b.pick(100, 3)
	late := 0
	var p50, p99 series
	err := b.each(func(round int) error {
		var raw, ours []time.Duration
		if err := b.accounted(ctx, "subnamespace, by hand", func() error {
			for i := range n {
				took, err := made.byHand(ctx, fmt.Sprintf("by-hand-%d-%d", round, i))
				if err != nil {
					return err
				}
				raw = append(raw, took)
			}
			return nil
		}); err != nil {
			return err
		}
		return profiler{b}.profiled(ctx, "subnamespace", func() error {
			for i := range n {
				took, ready, err := made.askFor(ctx, parent, fmt.Sprintf("asked-for-%d-%d", round, i))
				if err != nil {
					return err
				}
				if !ready {
					late++
				}
				ours = append(ours, took)
			}
			middle := percentile(milliseconds(ours), 0.5)
			p50.add(middle, percentile(milliseconds(raw), 0.5))
			p99.add(percentile(milliseconds(ours), 0.99), middle)
			return nil
		})
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d inherited objects; %d requests returned before all of them were there", len(b.kinds())*all.Objects, late)
	return errors.Join(
		b.report("subnamespace-p50", "ms", n, p50, ratioAtMost(1.5), note),
		b.report("subnamespace-p99", "ms", n, p99, ratioAtMost(5), "raw is the p50 of the same"))
}

// newNamespaces creates sub-namespaces, with and without us, that have as many objects as the options say.
type newNamespaces struct{ *bench }

// byHand makes a namespace and the objects in it, one after another.
func (b newNamespaces) byHand(ctx context.Context, name string) (time.Duration, error) {
	begun := time.Now()
	if err := b.createNamespaces(ctx, []string{name}); err != nil {
		return 0, err
	}
	err := propagation(b).writeSources(ctx, name, "inherited", "subnamespace")
	return time.Since(begun), err
}

// askFor makes a sub-namespace, and returns how long it took until all that it inherits was there, and whether it was
// when the request returned.
func (b newNamespaces) askFor(ctx context.Context, parent, name string) (took time.Duration, ready bool, err error) {
	begun := time.Now()
	s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := b.hierarchy.HncV1beta1().Subnamespaces(parent).Create(ctx, s, metav1.CreateOptions{}); err != nil {
		return 0, false, err
	}
	took = time.Since(begun)
	if err = b.inherits(ctx, name); err == nil {
		return took, true, nil
	}
	err = until(ctx, b.Timeout, func(ctx context.Context) error { return b.inherits(ctx, name) })
	return time.Since(begun), false, err
}

// inherits returns an error unless a namespace has a copy of each source above it.
func (b newNamespaces) inherits(ctx context.Context, namespace string) error {
	for _, k := range b.kinds() {
		list, err := b.metadata.Resource(k.GroupVersionResource).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: inheritedFrom})
		if err != nil {
			return err
		}
		if len(list.Items) != b.Objects {
			return fmt.Errorf("MISMATCH: %d of %d %s in %s", len(list.Items), b.Objects, k.Resource, namespace)
		}
	}
	return nil
}
