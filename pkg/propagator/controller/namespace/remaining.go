package namespace

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// remainingPeriod is the time between two reports of what keeps a namespace, which changes with each sub-namespace that
// vanishes.
const remainingPeriod = 10 * time.Second

// reportRemaining reports in the status of a namespace which sub-namespaces keep it.
func (c *Controller) reportRemaining(ctx context.Context, name string) error {
	var ns *tree.Namespace
	var message string
	c.Cache.Read(func(s *cache.State) { ns, message = s.Tree.Namespace(name), remaining(s.Tree, name) })
	if ns == nil || (message == "" && ns.Remaining == "") {
		return nil
	}
	if message != "" {
		key := queue.Key{Class: queue.Namespace, Namespace: name}
		if wait := c.reported.Remaining(name); wait > 0 {
			c.Queue.AddAfter(key, wait)
			return nil
		}
		c.reported.Start(name)
		c.Queue.AddAfter(key, remainingPeriod)
	}
	if message == ns.Remaining {
		return nil
	}
	condition := corev1.NamespaceCondition{
		Type: hnc.ConditionSubnamespacesRemain, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		Reason: hnc.ReasonSubnamespacesRemain, Message: message,
	}
	if message == "" {
		condition.Status, condition.Reason, condition.Message = corev1.ConditionFalse, hnc.ReasonSubnamespacesGone, "all sub-namespaces are gone"
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": ns.UID}, "status": map[string]any{"conditions": []corev1.NamespaceCondition{condition}},
	})
	if err != nil {
		return err
	}
	patched, err := c.Kubernetes.CoreV1().Namespaces().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return outcome.Record(c.Metrics, "Namespace", "patch", name, err, func() {
		c.Written(&patched.ObjectMeta)
		c.Cache.ObserveNamespace(patched)
	})
}

// remaining describes what keeps a namespace that Kubernetes is done with, "" for any other.
func remaining(t *tree.Tree, name string) string {
	const most = 5
	ns := t.Namespace(name)
	if ns == nil || !ns.Finalized || !ns.VanishesLast {
		return ""
	}
	holders := t.Holders(name)
	if len(holders) == 0 {
		return ""
	}
	return fmt.Sprintf("namespace %q vanishes after the sub-namespaces below it, which are being deleted: %s; see the conditions of these namespaces for what keeps them",
		name, names.List(holders, most, ", "))
}
