package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// measureQuotaStorm creates Secrets in one namespace through two kube-apiservers at once: both write the status of the same ResourceQuota, and their quota
// admission tries again after each conflict. A creation that is rejected because it has lost too often is made again, and its time goes on.
func measureQuotaStorm(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	q := newQuotas(b, "storm", 1)
	for _, nested := range []int{0, 1} {
		if err := q.prepare(ctx, nested); err != nil {
			return err
		}
	}
	const replica = kubeAPIServer + "-replica"
	other, err := b.replica(ctx, replica)
	if err != nil {
		return err
	}
	s := storm{q, []kubernetes.Interface{b.kube, other}}
	n := b.pick(2000, 64)
	shares := []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"max", 1}}
	took := map[string]*series{}
	for _, s := range shares {
		took[s.name] = &series{}
	}
	err = b.each(func(round int) error {
		each := map[int][]float64{}
		for i := range 2 {
			nested := (i + round) % 2
			if err := s.strike(ctx, nested, n, round, each); err != nil {
				return err
			}
		}
		for _, s := range shares {
			took[s.name].add(percentile(each[1], s.share), percentile(each[0], s.share))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range shares {
		err = errors.Join(err, b.report("quota-storm-"+s.name, "ms", n, *took[s.name], none, "1 limit, 32 writers in one namespace, 2 kube-apiservers"))
	}
	return errors.Join(err, q.remove(ctx), b.cp.StopProcess(ctx, replica))
}

// storm creates Secrets through several API servers.
type storm struct {
	quotas
	clients []kubernetes.Interface
}

// strike creates n Secrets, and enters how long each took in milliseconds. Any error but a conflict, such as a timeout, ends it.
func (b storm) strike(ctx context.Context, nested, n, round int, took map[int][]float64) error {
	namespace := b.namespaces[nested][0]
	var repeated atomic.Int64
	cpu, err := eachSpent(ctx, b.cluster, fmt.Sprintf("%s-%d", b.row, nested), n, func() error {
		each, all, err := load(ctx, n, func(ctx context.Context, i int) error {
			client := b.clients[i%len(b.clients)].CoreV1().Secrets(namespace)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s-%d-%d", round, i)}}
			for {
				_, err := client.Create(ctx, secret, metav1.CreateOptions{})
				if !apierrors.IsConflict(err) {
					return err
				}
				repeated.Add(1)
			}
		})
		took[nested] = milliseconds(each)
		b.sayf("%d quotas: %d creations in %s", nested, n, all.Round(time.Millisecond))
		return err
	})
	if err != nil {
		return err
	}
	b.sayf("%d quotas: p50 %.0f ms, p99 %.0f ms, max %.0f ms, %d repeated, %.2f ms of processor time each", nested, percentile(took[nested], 0.5),
		percentile(took[nested], 0.99), percentile(took[nested], 1), repeated.Load(), cpu)
	return b.counted(ctx, namespace, quotaObject(nested), n*(round+1))
}

// counted returns when a ResourceQuota has counted the Secrets, and an error if that is not as many as there are.
func (b storm) counted(ctx context.Context, namespace, name string, n int) error {
	return until(ctx, b.Timeout, func(ctx context.Context) error {
		rq, err := b.kube.CoreV1().ResourceQuotas(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if used := rq.Status.Used[corev1.ResourceSecrets]; used.Value() != int64(n) {
			return fmt.Errorf("namespace %s has %d Secrets, and its ResourceQuota has counted %s", namespace, n, used.String())
		}
		return nil
	})
}

// replica starts another kube-apiserver, and returns a client when it forwards requests for our API.
func (b *bench) replica(ctx context.Context, name string) (kubernetes.Interface, error) {
	host, err := controlplane.StartAPIServerReplica(ctx, b.cp, name)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(b.config)
	config.Host = host
	other, err := clientsFor(config)
	if err != nil {
		return nil, err
	}
	return other.kube, until(ctx, b.Timeout, func(ctx context.Context) error {
		var code int
		err := other.kube.Discovery().RESTClient().Get().AbsPath("/apis/" + v1beta1.SchemeGroupVersion.String()).Do(ctx).StatusCode(&code).Error()
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("status %d", code)
		}
		return err
	})
}
