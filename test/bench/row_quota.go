package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// measureQuota creates Secrets in namespaces with a ResourceQuota by hand, below one hierarchical quota, and below
// three of them. Each round measures all of them, in turns as to which is first.
func measureQuota(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	q := quotas{b, map[int][]string{}}
	for _, nested := range []int{0, 1, 3} {
		if err := q.prepare(ctx, nested); err != nil {
			return err
		}
	}
	n := map[int]int{1: b.pick(400, 10), writers: b.pick(4000, 64)}
	var err error
	for _, w := range []int{1, writers} {
		took, spent := map[int][]float64{}, map[int][]float64{}
		err = errors.Join(err, b.each(func(round int) error {
			for i := range 3 {
				nested := []int{0, 1, 3}[(i+round)%3]
				var each float64
				name := fmt.Sprintf("%s-%d-%d", b.row, nested, w)
				cpu, err := eachSpent(ctx, b.cluster, name, n[w], func() error {
					return profiler{b}.profile(ctx, name, func() (err error) {
						each, err = q.create(ctx, nested, w, n[w], round)
						return err
					})
				})
				if err != nil {
					return err
				}
				took[nested], spent[nested] = append(took[nested], each), append(spent[nested], cpu)
				b.sayf("%d writers, %d quotas: %.2f ms each", w, nested, each)
			}
			return nil
		}))
		if err != nil {
			return err
		}
		for _, nested := range []int{1, 3} {
			t := none
			if w == writers {
				t = ratioAtMost(1.5)
			}
			name, note := fmt.Sprintf("quota-%d-%d", nested, w), fmt.Sprintf("%d nested limits, %d writers", nested, w)
			err = errors.Join(err,
				b.report(name, "ms", n[w], series{took[nested], took[0]}, t, note),
				b.report(name+"-cpu", "ms", n[w], series{spent[nested], spent[0]}, none, note))
		}
	}
	return errors.Join(err, q.remove(ctx))
}

// quotas creates Secrets in the namespaces of each number of nested quotas.
type quotas struct {
	*bench
	namespaces map[int][]string
}

const quotaLimit = 1 << 30

// prepare makes namespaces below a number of nested hierarchical quotas, or with ResourceQuotas by hand if there are
// none.
func (b quotas) prepare(ctx context.Context, nested int) error {
	hard := corev1.ResourceList{corev1.ResourceSecrets: *resource.NewQuantity(quotaLimit, resource.DecimalSI)}
	var above []string
	for i := range nested {
		above = append(above, b.root(nested, i))
	}
	var names []string
	for i := range writers {
		names = append(names, fmt.Sprintf("quota-%d-%02d", nested, i))
	}
	if err := b.createNamespaces(ctx, append(above, names...)); err != nil {
		return err
	}
	b.namespaces[nested] = names
	for i, name := range above {
		if i > 0 {
			if err := b.setParent(ctx, name, above[i-1]); err != nil {
				return err
			}
		}
		q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(hard)}}
		if _, err := b.hierarchy.HncV1beta1().HierarchicalResourceQuotas(name).Create(ctx, q, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	object := quotaObject(nested)
	for _, name := range names {
		var err error
		if nested > 0 {
			err = b.setParent(ctx, name, above[nested-1])
		} else {
			rq := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: object}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
			_, err = b.kube.CoreV1().ResourceQuotas(name).Create(ctx, rq, metav1.CreateOptions{})
		}
		if err != nil {
			return err
		}
	}
	return until(ctx, b.Timeout, func(ctx context.Context) error {
		for _, name := range names {
			rq, err := b.kube.CoreV1().ResourceQuotas(name).Get(ctx, object, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if len(rq.Status.Used) == 0 {
				return fmt.Errorf("the use of namespace %s has not been counted", name)
			}
		}
		return nil
	})
}

func (b quotas) root(nested, i int) string { return fmt.Sprintf("quota-%d-root-%d", nested, i) }

// quotaObject returns the name of the ResourceQuota in a namespace below a number of nested quotas.
func quotaObject(nested int) string {
	if nested == 0 {
		return "by-hand"
	}
	return hnc.ResourceQuotaName
}

// create creates n Secrets, each writer in turn of the namespaces, and returns the time for each in milliseconds.
func (b quotas) create(ctx context.Context, nested, w, n, round int) (float64, error) {
	names := b.namespaces[nested]
	one := func(ctx context.Context, i int) error {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s-%d-%d-%d", w, round, i)}}
		_, err := b.kube.CoreV1().Secrets(names[i%len(names)]).Create(ctx, secret, metav1.CreateOptions{})
		return err
	}
	begun := time.Now()
	if w == 1 {
		for i := range n {
			if err := one(ctx, i); err != nil {
				return 0, err
			}
		}
	} else if _, _, err := load(ctx, n, one); err != nil {
		return 0, err
	}
	return float64(time.Since(begun)) / float64(time.Millisecond) / float64(n), nil
}

// remove deletes the quotas, so that later rows are not limited, and have no webhook.
func (b quotas) remove(ctx context.Context) error {
	var err error
	for nested := range b.namespaces {
		for i := range nested {
			err = errors.Join(err, b.hierarchy.HncV1beta1().HierarchicalResourceQuotas(b.root(nested, i)).Delete(ctx, "q", metav1.DeleteOptions{}))
		}
	}
	return err
}
