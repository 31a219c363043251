package subnamespace

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/namespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/parallel"
)

// deleteNamespace deletes the namespace of a Subnamespace that goes, or that is detached, after it has confirmed that
// decision. The Subnamespace is nil if there is none.
func (c *Controller) deleteNamespace(ctx context.Context, key tree.Key, s *tree.Subnamespace, p plan) error {
	childless, err := c.confirmDeletion(ctx, key, s)
	if err != nil {
		return err
	}
	if p.recordCascading {
		var ns *tree.Namespace
		c.Cache.Read(func(state *cache.State) { ns = state.Tree.Namespace(key.Name) })
		if ns == nil || ns.UID != p.uid {
			return outcome.ErrStale
		}
		value := hnc.CascadingAllowed
		if err := c.Namespaces.Patch(ctx, ns, namespace.Changes{Labels: map[string]*string{hnc.LabelCascadingDeletion: &value}}); err != nil {
			return err
		}
		// The namespace may not be the sub-namespace any more.
		c.Cache.Read(func(state *cache.State) { p = planFor(state.Tree, key, metav1.Now()) })
		if p.action != deleteNamespace || p.recordCascading || p.uid != ns.UID {
			return outcome.ErrStale
		}
	}
	// Users keep changing a namespace so that it stays: only what makes it a sub-namespace matters.
	return c.Namespaces.Delete(ctx, key.Name, func(live *tree.Namespace) error {
		// It is labeled before its first sub-namespace is created, which may have been after the confirmation.
		if childless && live.Labels[hnc.LabelHasSubnamespaces] != "" {
			return fmt.Errorf("%w: namespace %q has sub-namespaces now", outcome.ErrStale, key.Name)
		}
		if live.UID == p.uid && live.SubnamespaceOf == key.Parent && c.Cache.Managed.Excluded(live.Name, live.Labels) == "" {
			return nil
		}
		return fmt.Errorf("%w: namespace %q is no sub-namespace of %q any more", outcome.ErrStale, key.Name, key.Parent)
	})
}

// confirmDeletion confirms with live reads that the namespace is deleted: that the Subnamespace still goes and is
// effective, or that the namespace still is detached; that its Hierarchy agrees; and that cascading deletion is allowed
// if it has to be. That the namespace still is a sub-namespace is confirmed in the version that is deleted, and if it is
// childless, that it has no sub-namespaces yet.
func (c *Controller) confirmDeletion(ctx context.Context, key tree.Key, s *tree.Subnamespace) (childless bool, err error) {
	cascadesAt := key.Parent
	d := deletion{Controller: c, key: key, of: s}
	c.Cache.Read(func(state *cache.State) {
		d.parent = state.Tree.Namespace(key.Parent)
		if d.detached = state.Tree.IsDetached(key); !d.detached && s != nil {
			cascadesAt = needsCascading(state.Tree, s)
		}
		// Children that are being deleted do not keep it, and neither do new ones if cascading is allowed.
		childless = cascadesAt == "" && !state.Tree.HasSubnamespaces(key.Name) && !state.Tree.CascadingAllowed(key.Name)
	})
	if d.parent == nil || (!d.detached && s == nil) {
		return false, outcome.ErrStale
	}
	return childless, parallel.Run([]func() error{
		func() error { return d.confirmSubnamespace(ctx) },
		func() error { return d.confirmParentTerminates(ctx) },
		func() error { return d.confirmHierarchy(ctx) },
		func() error { return d.confirmCascading(ctx, cascadesAt) },
	})
}

// deletion is the deletion of a sub-namespace.
type deletion struct {
	*Controller
	key tree.Key
	// of is its Subnamespace, nil if there is none.
	of       *tree.Subnamespace
	detached bool
	// parent is what the cache has of its parent.
	parent *tree.Namespace
}

// confirmSubnamespace confirms that the Subnamespace still is the one that the cache has, and has an effect; or that
// the namespace still is detached.
func (d deletion) confirmSubnamespace(ctx context.Context) error {
	live, err := d.Hierarchy.HncV1beta1().Subnamespaces(d.key.Parent).Get(ctx, d.key.Name, metav1.GetOptions{})
	if d.detached && apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	now := tree.NewSubnamespace(live)
	keeps := !now.Void && now.Held() && (now.Owner == "" || now.Owner == d.parent.UID)
	switch {
	case d.detached && keeps:
		return fmt.Errorf("%w: namespace %q has a Subnamespace in namespace %q now", outcome.ErrStale, d.key.Name, d.key.Parent)
	case !d.detached && (!keeps || now.UID != d.of.UID):
		return fmt.Errorf("%w: the Subnamespace %q in namespace %q has no effect any more", outcome.ErrStale, d.key.Name, d.key.Parent)
	}
	return nil
}

// confirmParentTerminates confirms that the parent is being deleted, unless the Subnamespace itself is.
func (d deletion) confirmParentTerminates(ctx context.Context) error {
	if !d.detached && d.of.Terminating {
		return nil
	}
	live, err := d.Kubernetes.CoreV1().Namespaces().Get(ctx, d.key.Parent, metav1.GetOptions{})
	if err == nil && (live.UID != d.parent.UID || live.DeletionTimestamp == nil) {
		err = fmt.Errorf("%w: namespace %q is not being deleted", outcome.ErrStale, d.key.Parent)
	}
	return err
}

// confirmHierarchy confirms that the namespace's Hierarchy names no other parent than the Subnamespace; that of a
// detached one has to name the parent.
func (d deletion) confirmHierarchy(ctx context.Context) error {
	live, err := d.LiveHierarchy(ctx, d.key.Name)
	if err != nil {
		return err
	}
	parent := ""
	if live != nil {
		parent = live.Parent
	}
	if parent == d.key.Parent || (parent == "" && !d.detached) {
		return nil
	}
	return fmt.Errorf("%w: the parent of namespace %q is %q now", outcome.ErrStale, d.key.Name, parent)
}

// confirmCascading confirms that cascading deletion is allowed at a namespace; or, if namespace is "", that it is not
// needed, because there are no children.
func (d deletion) confirmCascading(ctx context.Context, namespace string) error {
	if namespace == "" {
		children, err := d.hasRemainingLiveChildren(ctx, d.key.Name)
		if err == nil && children {
			err = fmt.Errorf("%w: namespace %q has children now", outcome.ErrStale, d.key.Name)
		}
		return err
	}
	allowed, err := d.cascadingAllowedNow(ctx, namespace)
	if err == nil && !allowed {
		err = fmt.Errorf("%w: cascading deletion of namespace %q is not allowed any more", outcome.ErrStale, namespace)
	}
	return err
}

// cascadingAllowedNow is tree.CascadingAllowed with Hierarchies that are read live.
func (c *Controller) cascadingAllowedNow(ctx context.Context, namespace string) (bool, error) {
	seen := sets.New[string]()
	for at := namespace; at != "" && !seen.Has(at); {
		seen.Insert(at)
		h, err := c.LiveHierarchy(ctx, at)
		if err != nil {
			return false, err
		}
		allowed := false
		c.Cache.Read(func(state *cache.State) {
			t, parent := state.Tree, state.Tree.ParentWith(at, h)
			allowed = t.Namespace(at).AllowsCascading(h, parent != "" && t.Namespace(parent) == nil)
			if t.Cycle(at) != nil {
				parent = ""
			}
			at = parent
		})
		if allowed {
			return true, nil
		}
	}
	return false, nil
}
