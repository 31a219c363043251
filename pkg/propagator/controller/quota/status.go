package quota

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/conditionmerge"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

const (
	// maxNamespaces is how many namespaces a status contains.
	maxNamespaces = 250
	// maxUseBytes is the size of their JSON. The managed fields are as large again, and etcd's limit for an object is
	// 1.5 MiB.
	maxUseBytes = 96 << 10
	// maxExceeded is how many resources the condition Exceeded names.
	maxExceeded = 10
)

// reconcileStatus writes the status of a quota, unless its name, which an earlier version has accepted, fits into no
// request. The hierarchy of its namespace reports that; its limits are in force.
func (c *Controller) reconcileStatus(ctx context.Context, key queue.Key) error {
	if !names.Addressable(key.Name) {
		return nil
	}
	name := quotas.Key{Namespace: key.Namespace, Name: key.Name}
	var q *quotas.Quota
	var status v1beta1.HierarchicalResourceQuotaStatus
	delay := c.statuses.Remaining(name.String())
	early := false
	c.Cache.Read(func(s *cache.State) {
		if q = s.Quotas.Quota(name); q == nil {
			return
		}
		// A status lists the use in many namespaces, and each change in one of them asks for it.
		if early = delay > 0 && says(q.Status, q.Generation); early {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		status = c.statusOf(s, q, metav1.Now())
		c.observeExceeded(q.Key, meta.IsStatusConditionTrue(status.Conditions, hnc.ConditionQuotaExceeded))
	})
	if q == nil || !early && equality.Semantic.DeepEqual(status, q.Status) {
		return nil
	}
	if early || delay > 0 && !says(status, q.Generation) {
		c.Queue.AddAfter(key, delay)
		return nil
	}
	c.statuses.Start(name.String())
	if c.config.Mode == Eventual {
		// The limits of the namespaces below a quota follow its use.
		c.Cache.Read(func(s *cache.State) { c.enqueueSubtree(s, q.Namespace) })
	}
	// The whole status is replaced: a merge would keep resources that are not limited any more.
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": q.UID},
		{"op": "add", "path": "/status", "value": status},
	})
	if err != nil {
		return err
	}
	patched, err := c.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(q.Namespace).Patch(ctx, q.Name, types.JSONPatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsInvalid(err) {
		return fmt.Errorf("%w: %w", outcome.ErrStale, err) // Another quota of that name.
	}
	return outcome.Record(c.Metrics, "HierarchicalResourceQuota", "patch", q.Namespace, err, func() {
		if delay := c.pace.Written(time.Now(), c.Cache.Root(q.Namespace), q.ResourceVersion, patched); delay > c.statuses.Remaining(name.String()) {
			c.statuses.StartFor(name.String(), delay)
		}
		c.Cache.ObserveQuota(patched)
	})
}

// says reports whether a status says whether the limits of a generation are in force. The request that wrote them waits
// for the first one that does.
func says(status v1beta1.HierarchicalResourceQuotaStatus, generation int64) bool {
	enforced := meta.FindStatusCondition(status.Conditions, hnc.ConditionReady)
	return enforced != nil && enforced.ObservedGeneration == generation && enforced.Reason != hnc.ReasonPending
}

// observeExceeded records whether the use of a quota exceeds a limit. The lock must be held.
func (c *Controller) observeExceeded(key quotas.Key, exceeded bool) {
	if exceeded {
		c.exceeded.Insert(key)
	} else {
		c.exceeded.Delete(key)
	}
	c.metrics.exceeded.Set(float64(c.exceeded.Len()))
}

// statusOf returns the status of a quota. The lock must be held.
func (c *Controller) statusOf(s *cache.State, q *quotas.Quota, now metav1.Time) v1beta1.HierarchicalResourceQuotaStatus {
	tally := c.tallies.of(s, q)
	hard := effective(s, q)
	totals := tally.totals(hard)
	names := slices.Sorted(maps.Keys(tally.used))
	status := v1beta1.HierarchicalResourceQuotaStatus{ObservedGeneration: q.Generation, Hard: hnc.ResourceList(hard), Used: hnc.ResourceList(totals)}
	bytes := 0
	for _, name := range names[:min(len(names), maxNamespaces)] {
		if bytes += useBytes(name, tally.used[name]); bytes > maxUseBytes {
			break
		}
		status.Namespaces = append(status.Namespaces, v1beta1.NamespaceUse{Namespace: name, Used: hnc.ResourceList(tally.used[name])})
	}
	status.OmittedNamespaces = int32(len(names) - len(status.Namespaces)) //nolint:gosec // at most as many as there are namespaces
	status.Conditions = conditionmerge.Merge(q.Status.Conditions, []metav1.Condition{c.enforced(s, q), exceeded(hard, totals)}, q.Generation, now)
	return status
}

// useBytes returns the size of the JSON of a NamespaceUse in bytes.
func useBytes(namespace string, used map[corev1.ResourceName]resource.Quantity) int {
	n := len(`{"namespace":"","used":{}},`) + len(namespace)
	for name, quantity := range used {
		n += len(`"":"",`) + len(name) + len(quantity.String())
	}
	return n
}

// enforced returns the condition Ready. The lock must be held.
func (c *Controller) enforced(s *cache.State, q *quotas.Quota) metav1.Condition {
	condition := metav1.Condition{Type: hnc.ConditionReady, Status: metav1.ConditionFalse}
	if s.Tree.Excluded(q.Namespace) {
		condition.Reason = hnc.ReasonNamespaceExcluded
		condition.Message = fmt.Sprintf("namespace %q is %s; this quota has no effect", q.Namespace, s.Tree.WhyExcluded(q.Namespace))
		return condition
	}
	if !s.Quotas.Fits(s.Tree, q) {
		condition.Reason = hnc.ReasonQuotaTooLarge
		condition.Message = fmt.Sprintf("the limits and scopes of the quotas in namespace %q and above it have more than %d bytes, or the quotas have more than %d different scopes; "+
			"remove limits from this quota, or delete others", q.Namespace, quota.MaxChainSize, quota.MaxChainScopes)
		return condition
	}
	var pending, failing []string
	for namespace := range c.pending {
		switch {
		case len(q.Counted) == 0 || !slices.Contains(s.Tree.Chain(namespace), q.Namespace):
		case c.failures[namespace] != "":
			failing = append(failing, namespace)
		default:
			pending = append(pending, namespace)
		}
	}
	switch {
	case len(failing) > 0:
		condition.Reason, condition.Message = hnc.ReasonQuotaWriteFailed, c.failures[slices.Min(failing)]
		if n := len(failing); n > 1 {
			condition.Message += fmt.Sprintf("; and %d more namespaces", n-1)
		}
	case len(pending) > 0:
		condition.Reason = hnc.ReasonPending
		condition.Message = fmt.Sprintf("%d namespace(s) are not held to the limits yet, namespace %q for instance", len(pending), slices.Min(pending))
	case notInForce(s, q) != "":
		condition.Reason, condition.Message = hnc.ReasonQuotaLimitsIgnored, "these limits are not in force: "+notInForce(s, q)
	default:
		condition.Status, condition.Reason, condition.Message = inForce(q, c.config.Mode, c.webhook.reserves(s))
	}
	return condition
}

// exceeded returns the condition Exceeded.
func exceeded(hard, used corev1.ResourceList) metav1.Condition {
	var over []string
	for name, limit := range hard {
		if use := used[name]; use.Cmp(limit) > 0 {
			over = append(over, fmt.Sprintf("%s: used %s, limited to %s", name, use.String(), limit.String()))
		}
	}
	if len(over) == 0 {
		return metav1.Condition{
			Type: hnc.ConditionQuotaExceeded, Status: metav1.ConditionFalse, Reason: hnc.ReasonQuotaWithinLimit, Message: "no resource exceeds its limit",
		}
	}
	slices.Sort(over)
	more := ""
	if n := len(over) - maxExceeded; n > 0 {
		over, more = over[:maxExceeded], fmt.Sprintf(", and %d more resources", n)
	}
	return metav1.Condition{
		Type: hnc.ConditionQuotaExceeded, Status: metav1.ConditionTrue, Reason: hnc.ReasonQuotaOverLimit,
		Message: strings.Join(over, ", ") + more + "; nothing more is admitted until the use is below the limit",
	}
}
