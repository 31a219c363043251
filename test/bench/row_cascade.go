package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// cascadeParent is a namespace with sources, which stays.
const cascadeParent = "cascade-parent"

// measureCascade deletes trees of sub-namespaces by deleting the topmost Subnamespace, and as many plain namespaces
// with the same objects by deleting all of them at once. Both are done in each round, with both servers running, in
// turns as to which is first.
func measureCascade(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	if err := b.createNamespaces(ctx, []string{cascadeParent}); err != nil {
		return err
	}
	if err := (propagation{b}).writeSources(ctx, cascadeParent, "inherited", "cascade"); err != nil {
		return err
	}
	for _, c := range []struct {
		n        int
		topology string
		quick    int
	}{{2, "skewer", 2}, {5, "skewer", 0}, {deepest, "skewer", 0}, {100, "mixed", 0}} {
		n := b.pick(c.n, c.quick)
		name := fmt.Sprintf("cascade-%d", c.n)
		if n == 0 {
			if err := b.skip(name, "not measured with -quick"); err != nil {
				return err
			}
			continue
		}
		if err := (cascade{b, name, c.topology, n}).measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// cascade is the deletion of n namespaces.
type cascade struct {
	*bench
	name, topology string
	n              int
}

func (b cascade) measure(ctx context.Context) error {
	var s series
	var levels int
	err := b.each(func(round int) error {
		t := plan(fmt.Sprintf("%s-%d", b.name, round), b.topology, b.n)
		for _, depth := range t.depths {
			levels = max(levels, depth+1)
		}
		plain := make([]string, b.n)
		for i := range plain {
			plain[i] = fmt.Sprintf("%s-%d-plain-%d", b.name, round, i)
		}
		if err := b.prepare(ctx, t, plain); err != nil {
			return err
		}
		var took [2]time.Duration
		for i := range took {
			// Ours is first in every other round.
			which := (round + i) % len(took)
			if err := b.metered().idle(ctx); err != nil {
				return err
			}
			var err error
			if which == 0 {
				took[0], err = b.bySubnamespace(ctx, t)
			} else {
				took[1], err = b.byHand(ctx, plain)
			}
			if err != nil {
				return err
			}
			b.sayf("%s: %s in %s", b.name, [...]string{"ours", "by hand"}[which], took[which])
		}
		s.add(took[0].Seconds(), took[1].Seconds())
		return nil
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d levels, %d inherited objects in each namespace", levels, len(b.kinds())*b.Objects)
	return b.report(b.name, "s", b.n, s, ratioAtMost(1.5), note)
}

// prepare makes the tree and the plain namespaces.
func (b cascade) prepare(ctx context.Context, t tree, plain []string) error {
	if _, _, err := load(ctx, len(plain), func(ctx context.Context, i int) error {
		_, err := newNamespaces{b.bench}.byHand(ctx, plain[i])
		return err
	}); err != nil {
		return err
	}
	for i, name := range t.names {
		parent := cascadeParent
		if i > 0 {
			parent = t.parent(i)
		}
		s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := b.hierarchy.HncV1beta1().Subnamespaces(parent).Create(ctx, s, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, name := range t.names {
		if err := until(ctx, b.Timeout, func(ctx context.Context) error { return newNamespaces{b.bench}.inherits(ctx, name) }); err != nil {
			return err
		}
	}
	return until(ctx, b.Timeout, func(ctx context.Context) error {
		client := b.hierarchy.HncV1beta1().Hierarchies(t.root())
		h, err := client.Get(ctx, hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		allowed := true
		h.Spec.AllowCascadingDeletion = &allowed
		_, err = client.Update(ctx, h, metav1.UpdateOptions{})
		return err
	})
}

func (b cascade) bySubnamespace(ctx context.Context, t tree) (time.Duration, error) {
	begun := time.Now()
	if err := b.hierarchy.HncV1beta1().Subnamespaces(cascadeParent).Delete(ctx, t.root(), metav1.DeleteOptions{}); err != nil {
		return 0, err
	}
	return b.gone(ctx, begun, t.names)
}

func (b cascade) byHand(ctx context.Context, names []string) (time.Duration, error) {
	begun := time.Now()
	if _, _, err := load(ctx, len(names), func(ctx context.Context, i int) error {
		return b.kube.CoreV1().Namespaces().Delete(ctx, names[i], metav1.DeleteOptions{})
	}); err != nil {
		return 0, err
	}
	return b.gone(ctx, begun, names)
}

// gone returns how long it took until none of the namespaces existed any more.
func (b cascade) gone(ctx context.Context, begun time.Time, names []string) (time.Duration, error) {
	left := 0
	err := until(ctx, b.Timeout, func(ctx context.Context) error {
		for ; left < len(names); left++ {
			ns, err := b.kube.CoreV1().Namespaces().Get(ctx, names[left], metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return err
			}
			return fmt.Errorf("namespace %s is %s%s", names[left], ns.Status.Phase, remaining(ns))
		}
		return nil
	})
	return time.Since(begun), err
}

// remaining returns why a namespace is not gone yet.
func remaining(ns *corev1.Namespace) string {
	text := ""
	for _, c := range ns.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			text += "; " + c.Message
		}
	}
	return text
}
