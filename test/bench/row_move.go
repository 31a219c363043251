package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// measureMove moves a subtree between two roots that have as many sources each, so that each of its namespaces gets
// other labels, and other copies in place of those that it has.
func measureMove(ctx context.Context, b *bench) error {
	roots := []string{"move-a", "move-b"}
	t, err := b.subtree(ctx, "moved", b.part())
	if err != nil {
		return err
	}
	if err := b.createNamespaces(ctx, roots); err != nil {
		return err
	}
	for _, root := range roots {
		if err := (propagation{b}).writeSources(ctx, root, root, root); err != nil {
			return err
		}
	}
	// To the first root, and then to the other and back.
	if _, err := b.moveTo(ctx, t, "", roots[0]); err != nil {
		return err
	}
	var s series
	err = b.each(func(round int) error {
		var raw, took time.Duration
		err := inTurns(round, func() (err error) {
			if err := b.stopped(ctx); err != nil {
				return err
			}
			raw, err = b.rawMove(ctx, t, fmt.Sprint("raw", round))
			return err
		}, func() error {
			if err := b.up(ctx); err != nil {
				return err
			}
			return profiler{b}.profiled(ctx, "move", func() (err error) {
				took, err = b.moveTo(ctx, t, roots[round%2], roots[(round+1)%2])
				return err
			})
		})
		s.add(took.Seconds(), raw.Seconds())
		return err
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d copies in each namespace", len(b.kinds())*b.Objects)
	return b.report("move", "s", t.len(), s, ratioAtMost(1.3), note)
}

// moveTo moves a tree below another root than the one before, if there is one, and returns how long it took until
// everything was right.
func (b *bench) moveTo(ctx context.Context, t tree, before, root string) (time.Duration, error) {
	wanted := t.chains(0, root)
	labels, err := b.observeLabels(ctx, wanted)
	if err != nil {
		return 0, err
	}
	observations := []*observation{labels}
	for _, k := range b.kinds() {
		arrived, err := b.observeCopies(ctx, k, root, root, b.Objects*t.len())
		if err != nil {
			return 0, err
		}
		observations = append(observations, arrived)
		if before == "" {
			continue
		}
		gone, err := b.observeRemoval(ctx, k, before, b.Objects*t.len())
		if err != nil {
			return 0, err
		}
		observations = append(observations, gone)
	}
	begun := time.Now()
	if err := b.setParent(ctx, t.root(), root); err != nil {
		return 0, err
	}
	took, err := b.waitAll(ctx, begun, observations)
	if err != nil {
		return 0, err
	}
	if before != "" {
		err = propagation{b}.verifyCopies(ctx, before, nil)
	}
	return took, errors.Join(err, propagation{b}.verifyCopies(ctx, root, t.names), b.labelled(ctx, wanted))
}

// rawMove makes the writes that a move needs: of each namespace the labels, and all objects of one set deleted and of
// another created.
func (b *bench) rawMove(ctx context.Context, t tree, value string) (time.Duration, error) {
	if _, _, err := (rawWriter{b}).rawObjects(ctx, t.names, (rawWriter{b}).createRaw, value); err != nil {
		return 0, err
	}
	kinds := b.kinds()
	objects := len(kinds) * b.Objects
	each := 2*objects + 1
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, generation, value)
	labelled, err := b.observeRaw(ctx, namespacesResource, value, t.len())
	if err != nil {
		return 0, err
	}
	observations := []*observation{labelled}
	for _, k := range kinds {
		o, err := b.observeRaw(ctx, k.GroupVersionResource, value, b.Objects*t.len())
		if err != nil {
			return 0, err
		}
		observations = append(observations, o)
	}
	took, err := rawWriter{b}.raw(ctx, each*t.len(), observations, func(ctx context.Context, i int) error {
		namespace, i := t.names[i/each], i%each
		if i == each-1 {
			_, err := b.kube.CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}
		k, n := kinds[i%objects/b.Objects], i%b.Objects
		if i < objects {
			return k.delete(ctx, b.kube, namespace, fmt.Sprintf("raw-%d", n))
		}
		return k.create(ctx, b.kube, k.named(namespace, fmt.Sprintf("moved-%d", n), value))
	})
	if err != nil {
		return 0, err
	}
	return took, rawWriter{b}.removeRaw(ctx, t.names)
}
