package subnamespace

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// The caches may be seconds old, each differently. Most decisions are corrected by the next one. Those that can't be
// are confirmed with the API server first; outcome.ErrStale reports that the cache has to catch up.

// confirmRelease confirms why a namespace stays without its Subnamespace: that there is no such namespace, or that it
// belongs elsewhere or has children.
func (c *Controller) confirmRelease(ctx context.Context, s *tree.Subnamespace) error {
	var (
		ns         *tree.Namespace
		h          *tree.Hierarchy
		cascadesAt string
		children   bool
		excluded   bool
		p          plan
	)
	c.Cache.Read(func(state *cache.State) {
		t := state.Tree
		ns, h, children = t.Namespace(s.Name), t.Hierarchy(s.Name), t.HasRemainingChildren(s.Name)
		p = planFor(t, s.Key, metav1.Now())
		excluded = t.Excluded(s.Parent) || t.Excluded(s.Name)
		if t.Namespace(s.Parent) != nil && !elsewhere(t, s) {
			cascadesAt = needsCascading(t, s)
		}
	})
	if p.action != release {
		return fmt.Errorf("%w: the plan is %s now", outcome.ErrStale, p.action)
	}
	if ns == nil {
		live, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, s.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("%w: namespace %q exists since version %s", outcome.ErrStale, s.Name, live.ResourceVersion)
	}
	if ns.SubnamespaceOf != s.Parent || s.Void || ns.Terminating || excluded {
		return nil
	}
	live, err := c.LiveHierarchy(ctx, s.Name)
	if err != nil {
		return err
	}
	if live != nil && h != nil && live.Parent != h.Parent {
		return fmt.Errorf("%w: the parent of namespace %q is %q now", outcome.ErrStale, s.Name, live.Parent)
	}
	if cascadesAt != "" {
		allowed, err := c.cascadingAllowedNow(ctx, cascadesAt)
		if err != nil {
			return err
		}
		if allowed {
			return fmt.Errorf("%w: cascading deletion of namespace %q is allowed now", outcome.ErrStale, cascadesAt)
		}
	}
	if !children || cascadesAt == s.Parent {
		return nil
	}
	if children, err = c.hasRemainingLiveChildren(ctx, s.Name); err != nil {
		return err
	}
	if !children {
		return fmt.Errorf("%w: namespace %q has no children any more", outcome.ErrStale, s.Name)
	}
	return nil
}

// confirmVoid confirms that the namespace of a Subnamespace is not its sub-namespace, or not again: void Subnamespaces
// stay void. That it is gone confirms a conversion only if the cache has seen both: otherwise, it may be an earlier
// namespace of that name, and the one that the Subnamespace asks for is yet to be created.
func (c *Controller) confirmVoid(ctx context.Context, s *tree.Subnamespace) error {
	var ns *tree.Namespace
	var p plan
	c.Cache.Read(func(state *cache.State) {
		ns, p = state.Tree.Namespace(s.Name), planFor(state.Tree, s.Key, metav1.Now())
	})
	if p.action != void {
		return fmt.Errorf("%w: the plan is %s now", outcome.ErrStale, p.action)
	}
	live, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if ns != nil {
			return fmt.Errorf("%w: namespace %q is gone", outcome.ErrStale, s.Name)
		}
		return nil
	}
	if err == nil && managedkeys.SubnamespaceOf(live.Annotations) == s.Parent {
		err = fmt.Errorf("%w: namespace %q is a sub-namespace of %q since version %s", outcome.ErrStale, s.Name, s.Parent, live.ResourceVersion)
	}
	return err
}

// hasRemainingLiveChildren reports whether live Hierarchies and Subnamespaces make another namespace a child of this
// one that is not being deleted, or about to be. Those without effect make none, as in tree.HasRemainingChildren.
func (c *Controller) hasRemainingLiveChildren(ctx context.Context, namespace string) (bool, error) {
	hierarchies, err := c.Hierarchy.HncV1beta1().Hierarchies(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.parent", namespace).String(),
	})
	if err != nil {
		return false, err
	}
	list, err := c.Hierarchy.HncV1beta1().Subnamespaces(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	subnamespaces := map[string]*tree.Subnamespace{}
	for i := range list.Items {
		if s := tree.NewSubnamespace(&list.Items[i]); !s.Terminating {
			subnamespaces[s.Name] = s
		}
	}
	for i := range hierarchies.Items {
		h := tree.NewHierarchy(&hierarchies.Items[i])
		s := subnamespaces[h.Namespace]
		delete(subnamespaces, h.Namespace)
		if remains, err := c.remains(ctx, namespace, h.Namespace, h, s); remains || err != nil {
			return remains, err
		}
	}
	for name, s := range subnamespaces {
		h, err := c.LiveHierarchy(ctx, name)
		if err != nil {
			return false, err
		}
		if remains, err := c.remains(ctx, namespace, name, h, s); remains || err != nil {
			return remains, err
		}
	}
	return false, nil
}

// remains reports whether a namespace is a child by its records, each nil if there is none, and stays.
func (c *Controller) remains(ctx context.Context, parent, name string, h *tree.Hierarchy, s *tree.Subnamespace) (bool, error) {
	child := false
	c.Cache.Read(func(state *cache.State) { child = state.Tree.ParentBy(name, parent, h, s) == parent })
	if !child || s != nil {
		return child, nil
	}
	live, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && live.DeletionTimestamp == nil, err
}
