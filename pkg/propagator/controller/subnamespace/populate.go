package subnamespace

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/parallel"
)

// populate creates the namespace if the plan says so, writes everything that it inherits, and then the status. It
// returns outcome.ErrUnfinished when others have their turn first.
func (c *Controller) populate(ctx context.Context, s *tree.Subnamespace, p plan) error {
	// The copies controller leaves the namespace alone until it is populated. Reconcile releases it.
	c.Copies.Hold(s.Name, s.Parent)

	if p.action == createNamespace {
		p.unlimited = c.markUnlimited(s, p.namespace)
		if err := c.reportMissing(ctx, s); err != nil {
			return err
		}
		if err := parallel.Run([]func() error{
			func() error { return c.Namespaces.Create(ctx, p.namespace) },
			func() error { return c.refreshPodSecurity(ctx, s.Parent) },
		}); err != nil {
			return c.reportFailure(ctx, s, v1beta1.SubnamespaceMissing, err)
		}
	}
	// Labels restrict what the copies permit, so they come first. There is nothing to do for a namespace that was just
	// created, unless the parent's Pod Security labels have changed since.
	if err := c.Namespaces.Sync(ctx, s.Name); err != nil {
		return c.reportFailure(ctx, s, v1beta1.SubnamespaceOk, err)
	}
	limited := true
	if p.unlimited {
		var err error
		if limited, err = c.Quotas.Populate(ctx, s.Name, !withheld(s)); err != nil {
			return c.reportFailure(ctx, s, v1beta1.SubnamespaceOk, err)
		}
	}
	steps := []func() error{
		func() error { return c.Copies.Populate(ctx, s.Name, limited) },
	}
	if p.setParent || p.setMetadata {
		steps = append(steps, func() error { return c.syncHierarchy(ctx, s, p) })
	}
	errs := parallel.RunAll(len(steps), steps)
	if errors.Is(errs[0], outcome.ErrUnfinished) {
		if len(errs) == 1 || errs[1] == nil {
			return outcome.ErrUnfinished
		}
		errs[0] = nil // The failure of the other one has its back-off.
	}
	if err := errors.Join(errs...); err != nil {
		return c.reportFailure(ctx, s, v1beta1.SubnamespaceOk, err)
	}
	if !limited {
		return c.reportWithheld(ctx, s)
	}
	if err := c.bindCreator(ctx, s, p.creator); err != nil {
		return c.reportFailure(ctx, s, v1beta1.SubnamespaceOk, err)
	}
	return parallel.Run([]func() error{
		func() error { return c.removeNotes(ctx, s, p) },
		func() error { return c.writeNewStatus(ctx, s, p.status) },
	})
}

// refreshPodSecurity reads the parent whose Pod Security labels a new sub-namespace inherits: the watch may be late,
// and a label that makes the parent stricter has to be there before the sub-namespace can be used.
func (c *Controller) refreshPodSecurity(ctx context.Context, parent string) error {
	if !c.inheritPodSecurity {
		return nil
	}
	return c.Namespaces.Refresh(ctx, parent)
}

// syncHierarchy makes the Hierarchy of a sub-namespace specify what its Subnamespace does.
func (c *Controller) syncHierarchy(ctx context.Context, s *tree.Subnamespace, p plan) error {
	var h *tree.Hierarchy
	c.Cache.Read(func(state *cache.State) { h = state.Tree.Hierarchy(s.Name) })
	if h == nil {
		return c.Hierarchies.Create(ctx, s.Name, s.Parent, s.Metadata)
	}
	return c.Hierarchies.Adopt(ctx, h, s, p.setParent, p.setMetadata)
}

// reportFailure reports an error that a retry alone does not solve in the status, and returns it.
func (c *Controller) reportFailure(ctx context.Context, s *tree.Subnamespace, state v1beta1.SubnamespaceState, err error) error {
	if !outcome.Rejected(err) {
		return err
	}
	// Once is enough, even if the server's message differs each time: a new status would cause another attempt at once.
	if rejection(s) != nil && s.Status.State == state {
		return err
	}
	var status v1beta1.SubnamespaceStatus
	now := metav1.NewTime(c.refusals.Now())
	c.Cache.Read(func(cached *cache.State) {
		status = unready(cached.Tree, s, state, hnc.ReasonPropagationFailed, names.ShortenText(err.Error()), now)
	})
	if rejection(s) == nil {
		// It may not have been ready for long for another reason.
		meta.FindStatusCondition(status.Conditions, hnc.ConditionReady).LastTransitionTime = now
	}
	return errors.Join(err, c.writeStatus(ctx, s, status))
}

// rejection returns the Ready condition if it says that the server has rejected a write for this generation, or nil.
func rejection(s *tree.Subnamespace) *metav1.Condition {
	ready := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
	if ready == nil || ready.Reason != hnc.ReasonPropagationFailed || ready.ObservedGeneration != s.Generation {
		return nil
	}
	return ready
}

// longRejected reports whether that is not for a moment only, such as until an admission policy knows a new namespace.
func (c *Controller) longRejected(s *tree.Subnamespace) bool {
	ready := rejection(s)
	return ready != nil && c.refusals.Now().Sub(ready.LastTransitionTime.Time) >= refusedRetry
}

// writeNewStatus writes a status unless the present one, which may be newer than the record, is equivalent.
func (c *Controller) writeNewStatus(ctx context.Context, s *tree.Subnamespace, status v1beta1.SubnamespaceStatus) error {
	same := false
	c.Cache.Read(func(state *cache.State) {
		present := state.Tree.SubnamespaceRecord(s.Key)
		same = present != nil && present.UID == s.UID && sameStatus(status, present.Status)
	})
	if same {
		return nil
	}
	return c.writeStatus(ctx, s, status)
}

func (c *Controller) writeStatus(ctx context.Context, s *tree.Subnamespace, status v1beta1.SubnamespaceStatus) error {
	return c.patch(ctx, s, map[string]any{"metadata": map[string]any{"uid": s.UID}, "status": status}, "status")
}

// markVoid marks a Subnamespace as void. A converted namespace keeps its parent: its Hierarchy names it first.
func (c *Controller) markVoid(ctx context.Context, s *tree.Subnamespace, p plan) error {
	if err := c.confirmVoid(ctx, s); err != nil {
		return err
	}
	if p.setParent {
		if err := c.syncHierarchy(ctx, s, p); err != nil {
			return err
		}
	}
	return c.patch(ctx, s, map[string]any{"metadata": map[string]any{"uid": s.UID, "annotations": map[string]any{hnc.AnnotationVoid: "true"}}})
}

// removeFinalizer removes our finalizer.
func (c *Controller) removeFinalizer(ctx context.Context, s *tree.Subnamespace) error {
	others := slices.DeleteFunc(slices.Clone(s.Finalizers), func(f string) bool { return f == hnc.FinalizerSubnamespace })
	// The patch replaces the whole list, so it names the version.
	return c.patch(ctx, s, map[string]any{"metadata": map[string]any{"uid": s.UID, "resourceVersion": s.ResourceVersion, "finalizers": others}})
}

func (c *Controller) patch(ctx context.Context, s *tree.Subnamespace, patch map[string]any, subresources ...string) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	patched, err := c.Hierarchy.HncV1beta1().Subnamespaces(s.Parent).Patch(ctx, s.Name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	return outcome.Record(c.Metrics, "Subnamespace", "patch", s.Parent, err, func() {
		c.Cache.ObserveSubnamespace(patched)
		if delay := c.pace.Written(time.Now(), c.Cache.Root(s.Parent), s.ResourceVersion, patched); delay > 0 {
			c.large.StartFor(s.Parent+"/"+s.Name, delay)
		}
	})
}
