package quota

import (
	"context"
	"encoding/json"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/parallel"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// sync gives a namespace the ResourceQuotas that it has to have, as far as they need not wait for others of its tree.
func (c *Controller) sync(ctx context.Context, namespace string) error {
	var writes []write
	c.Cache.Read(func(s *cache.State) {
		c.mu.Lock()
		defer c.mu.Unlock()
		planned, _ := c.plan(s, namespace)
		writes = c.backlog.admit(s, namespace, planned)
	})
	if len(writes) == 0 {
		return nil
	}
	err := c.carryOutAll(ctx, namespace, writes)
	c.Cache.Read(func(s *cache.State) {
		for _, w := range writes {
			c.settle(s, w.Key)
		}
	})
	if outcome.Rejected(err) {
		c.reportFailure(namespace, err)
	}
	return err
}

func (c *Controller) carryOutAll(ctx context.Context, namespace string, writes []write) error {
	// No use is recorded without being reserved.
	if err := c.webhook.register(ctx); err != nil {
		return err
	}
	writes = c.permitted(namespace, writes)
	steps := make([]func() error, len(writes))
	for i, w := range writes {
		steps[i] = func() error { return c.carryOut(ctx, w) }
	}
	return parallel.Run(steps)
}

// permitted returns the writes that can be made now. As long as kube-apiserver may not apply the webhook, a namespace
// gets no limits, and waits for them.
func (c *Controller) permitted(namespace string, writes []write) []write {
	c.Cache.Read(func(s *cache.State) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.webhook.reserves(s) {
			c.pending.Insert(namespace)
			c.webhook.enqueue()
			writes = slices.DeleteFunc(slices.Clone(writes), func(w write) bool { return w.wanted != nil })
		}
	})
	return writes
}

// resume has what has waited for the webhook reconciled.
func (c *Controller) resume(s *cache.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.pending {
		c.Queue.Add(queue.Key{Class: queue.Quota, Namespace: name})
	}
	for q := range s.Quotas.Quotas() {
		c.enqueueStatus(q.Key)
	}
}

func (c *Controller) carryOut(ctx context.Context, w write) error {
	switch {
	case w.wanted == nil:
		return c.delete(ctx, w.Key, w.present.UID)
	case w.present == nil:
		return c.create(ctx, w)
	}
	return c.reset(ctx, w, w.present)
}

// create creates a ResourceQuota. One of its name that somebody else has created, or removed our label from, is taken
// over.
func (c *Controller) create(ctx context.Context, w write) error {
	client := c.Kubernetes.CoreV1().ResourceQuotas(w.Namespace)
	created, err := client.Create(ctx, w.wanted, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return c.record("create", w.Key, err, func() { c.Cache.ObserveResourceQuota(created) })
	}
	live, err := client.Get(ctx, w.Name, metav1.GetOptions{})
	if err != nil {
		return c.record("get", w.Key, err, nil)
	}
	return c.reset(ctx, w, quotas.NewObject(live))
}

// reset makes a present ResourceQuota the wanted one. Scopes can't be changed, so one with other scopes is replaced.
func (c *Controller) reset(ctx context.Context, w write, present *quotas.Object) error {
	if quotas.NewObject(w.wanted).Scope != present.Scope {
		if err := c.delete(ctx, w.Key, present.UID); err != nil {
			return err
		}
		created, err := c.Kubernetes.CoreV1().ResourceQuotas(w.Namespace).Create(ctx, w.wanted, metav1.CreateOptions{})
		return c.record("create", w.Key, err, func() { c.Cache.ObserveResourceQuota(created) })
	}
	hard := map[string]any{}
	for name := range present.Hard {
		hard[string(name)] = nil
	}
	for name, quantity := range w.wanted.Spec.Hard {
		hard[string(name)] = quantity.String()
	}
	metadata := map[string]any{
		"uid":         present.UID,
		"labels":      map[string]any{hnc.LabelQuota: "true"},
		"annotations": map[string]any{hnc.AnnotationNone: "true"},
	}
	if present.Unreadable {
		metadata["managedFields"] = []any{map[string]any{}}
	}
	// There is no version in the patch: the use changes all the time, and nobody else may write the limits. It is strategic
	// because kube-apiserver applies no other patch to an object whose managed fields are too deep to be decoded in JSON.
	patch, err := json.Marshal(map[string]any{"metadata": metadata, "spec": map[string]any{"hard": hard}})
	if err != nil {
		return err
	}
	patched, err := c.Kubernetes.CoreV1().ResourceQuotas(w.Namespace).Patch(ctx, w.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	return c.record("patch", w.Key, err, func() { c.Cache.ObserveResourceQuota(patched) })
}

// delete deletes a ResourceQuota. The watch brings what follows.
func (c *Controller) delete(ctx context.Context, key quotas.Key, uid types.UID) error {
	err := c.Kubernetes.CoreV1().ResourceQuotas(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	return c.record("delete", key, err, nil)
}

func (c *Controller) record(verb string, key quotas.Key, err error, observe func()) error {
	return outcome.Record(c.Metrics, "ResourceQuota", verb, key.Namespace, err, observe)
}
