package namespace

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// forgetsLimits reports whether the annotation that limits are pending seems to be left over: they are in force, and the
// Subnamespace that would remove it does not exist any more. The namespace stays without it, a restore has brought the
// annotation back, or the store was lost in between.
func (c *Controller) forgetsLimits(s *cache.State, name string) bool {
	ns := s.Tree.Namespace(name)
	if ns == nil || ns.Terminating || ns.LimitsPending == "" {
		return false
	}
	sub := s.Tree.Subnamespace(tree.Key{Parent: ns.SubnamespaceOf, Name: name})
	return (sub == nil || sub.UID != ns.LimitsPending) && c.limited(s, name)
}

// forgetLimits removes such an annotation. The cache may not contain the Subnamespace of a new namespace yet, so the API
// server confirms it.
func (c *Controller) forgetLimits(ctx context.Context, name string) error {
	var ns *tree.Namespace
	var forgets bool
	c.Cache.Read(func(s *cache.State) { ns, forgets = s.Tree.Namespace(name), c.forgetsLimits(s, name) })
	if !forgets {
		return nil
	}
	if ns.SubnamespaceOf != "" {
		s, err := c.Hierarchy.HncV1beta1().Subnamespaces(ns.SubnamespaceOf).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil && s.UID == ns.LimitsPending && !hnc.IsVoid(s.Annotations):
			return nil
		case err != nil && !copies.Gone(err):
			return err
		}
	}
	return c.Patch(ctx, ns, Changes{Annotations: map[string]*string{hnc.AnnotationLimitsPending: nil}})
}
