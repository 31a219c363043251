package subnamespace

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/namespace"
)

// Limits are in force before anybody gets permissions in a new sub-namespace, and the creator's are the last: until
// kube-controller-manager has computed the use of a ResourceQuota, kube-apiserver admits everything. An annotation of
// the namespace, which is created with it, says that this is due. So an existing namespace keeps and gets its
// permissions, whatever happens to its quotas.

// markUnlimited adds the annotation to a namespace that is about to be created below a quota, and reports whether it
// did.
func (c *Controller) markUnlimited(s *tree.Subnamespace, ns *corev1.Namespace) (limited bool) {
	c.Cache.Read(func(state *cache.State) { limited = c.Quotas.Limits(state, s.Parent) })
	if limited {
		ns.Annotations[hnc.AnnotationLimitsPending] = string(s.UID)
	}
	return limited
}

// withheld reports whether the Subnamespace says that permissions are withheld.
func withheld(s *tree.Subnamespace) bool {
	ready := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
	return ready != nil && ready.Reason == hnc.ReasonLimitsPending
}

// reportWithheld reports that permissions are withheld. The quota controller enqueues the Subnamespace when the limits
// are in force.
func (c *Controller) reportWithheld(ctx context.Context, s *tree.Subnamespace) error {
	return c.report(ctx, s, v1beta1.SubnamespaceOk, hnc.ReasonLimitsPending,
		fmt.Sprintf("Roles and RoleBindings are withheld until kube-controller-manager has computed the use of the ResourceQuotas of hierarchical quotas in namespace %q", s.Name))
}

// reportMissing reports that the namespace of a Subnamespace that was ready is gone, before it is created again.
func (c *Controller) reportMissing(ctx context.Context, s *tree.Subnamespace) error {
	if !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) {
		return nil
	}
	return c.report(ctx, s, v1beta1.SubnamespaceMissing, hnc.ReasonNamespaceMissing, fmt.Sprintf("namespace %q was deleted, and is created again", s.Name))
}

// report writes the status of a Subnamespace that is not ready, unless it has an equivalent one.
func (c *Controller) report(ctx context.Context, s *tree.Subnamespace, state v1beta1.SubnamespaceState, reason, message string) error {
	var p plan
	c.Cache.Read(func(cached *cache.State) { p = reportOnly(cached.Tree, s, state, reason, message, metav1.Now()) })
	if p.action != report {
		return nil
	}
	return c.writeStatus(ctx, s, p.status)
}

// removeNotes removes what the namespace says about steps that are done: that its limits or its creator's role are
// pending.
func (c *Controller) removeNotes(ctx context.Context, s *tree.Subnamespace, p plan) error {
	var ns *tree.Namespace
	c.Cache.Read(func(state *cache.State) { ns = state.Tree.Namespace(s.Name) })
	if ns == nil {
		return nil
	}
	done := map[string]*string{}
	if ns.CreatorPending == s.UID && p.creator != nil {
		done[hnc.AnnotationCreatorPending] = nil
	}
	if ns.LimitsPending == s.UID && p.unlimited {
		done[hnc.AnnotationLimitsPending] = nil
	}
	if len(done) == 0 {
		return nil
	}
	return c.Namespaces.Patch(ctx, ns, namespace.Changes{Annotations: done})
}
