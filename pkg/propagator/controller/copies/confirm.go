package copies

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// confirmAncestor confirms with the API server that the namespace is still below the ancestor. The caches may be
// seconds old, each differently, and overwriting a local object can't be undone by the next decision.
func (c *Controller) confirmAncestor(ctx context.Context, namespace, ancestor string) error {
	var chain []string
	c.Cache.Read(func(s *cache.State) { chain = s.Tree.Chain(namespace) })
	for i, at := range chain {
		if at == ancestor {
			return nil
		}
		if i+1 == len(chain) {
			break
		}
		parent, err := c.liveParent(ctx, at, chain[i+1])
		if err != nil {
			return err
		}
		if parent != chain[i+1] {
			return fmt.Errorf("%w: the parent of namespace %q is %q now", outcome.ErrStale, at, parent)
		}
	}
	return fmt.Errorf("%w: namespace %q is not below %q", outcome.ErrStale, namespace, ancestor)
}

// liveParent returns the parent that the namespace's records, as they are stored now, give it by the rules of the tree.
// Its Subnamespace is looked up in the namespace expected.
func (c *Controller) liveParent(ctx context.Context, namespace, expected string) (parent string, err error) {
	h, err := c.LiveHierarchy(ctx, namespace)
	if err != nil {
		return "", err
	}
	var sub *tree.Subnamespace
	s, err := c.Hierarchy.HncV1beta1().Subnamespaces(expected).Get(ctx, namespace, metav1.GetOptions{})
	switch {
	case err == nil:
		sub = tree.NewSubnamespace(s)
	case !apierrors.IsNotFound(err):
		return "", err
	}
	c.Cache.Read(func(s *cache.State) { parent = s.Tree.ParentBy(namespace, expected, h, sub) })
	return parent, nil
}
