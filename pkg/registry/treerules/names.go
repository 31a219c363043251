package treerules

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// authorizeNames authorizes names that come below a parent, with respect to the TenantViews of its ancestors: with one
// that has the name of another member in a view, its creator could get what others write there, once that member is
// gone, or keep the name from others. Whoever may update the TenantView may do that. left are the ancestors that the
// names have already. The result are the other namespaces that would have one of these names, if they were in the view.
func (a *Authorizer) authorizeNames(ctx context.Context, s *snapshot, reject rejection, field string, names []string, parent string, left []string) (rivals []string, err error) {
	if a.config.Names == nil || parent == "" {
		return nil, nil
	}
	// The edges of rivals are not compared, and those of many not read from the store unless they matter.
	apart := newSnapshot(s.index, s.fresh && len(names) == 1)
	chain, err := apart.ancestry(ctx, parent)
	if err != nil {
		return nil, err
	}
	for _, ancestor := range chain {
		if slices.Contains(left, ancestor) {
			continue
		}
		view, err := a.config.Names(ctx, ancestor)
		if err != nil {
			return nil, err
		}
		if view == nil {
			continue
		}
		for _, name := range names {
			rival, ok := view.Rival(name)
			if !ok {
				continue
			}
			below, err := apart.isBelow(ctx, rival, ancestor)
			if err == nil && below && s.fresh && !apart.fresh {
				below, err = newSnapshot(s.index, true).isBelow(ctx, rival, ancestor)
			}
			if err != nil {
				return nil, err
			}
			if !below && !slices.Contains(names, rival) {
				rivals = append(rivals, rival)
				continue
			}
			if err := a.authorizeHiding(ctx, reject, field, name, rival, ancestor); err != nil {
				return nil, err
			}
			break // it is allowed in this view
		}
	}
	return rivals, nil
}

// isBelow reports whether an ancestor is above a namespace, or is that namespace.
func (s *snapshot) isBelow(ctx context.Context, name, ancestor string) (bool, error) {
	chain, err := s.ancestry(ctx, name)
	return slices.Contains(chain, ancestor), err
}

// authorizeHiding authorizes that one of two namespaces is not shown in the view of an ancestor. The propagator is not
// allowed to, because it creates sub-namespaces on behalf of others.
func (a *Authorizer) authorizeHiding(ctx context.Context, reject rejection, field, name, rival, ancestor string) error {
	user, allowed, err := hnc.PropagatorUser, false, error(nil)
	if !accessreview.ByPropagator(ctx) {
		user, allowed, err = a.allows(ctx, authorizer.AttributesRecord{
			Verb: "update", Namespace: ancestor, APIGroup: hnc.GroupName, APIVersion: "*", Resource: "tenantviews", Name: hnc.TenantViewSingleton,
		})
	}
	if err != nil || allowed {
		return err
	}
	return reject.forbidden("%s: namespaces %q and %q would have one name in the TenantView of namespace %q, so that it would show only one of them; "+
		"choose another name. User %q needs the verb update on tenantviews.%s in namespace %q to hide one", field, name, rival, ancestor, user, hnc.GroupName, ancestor)
}

// subtreeNames returns the names of a namespace and its descendants.
func (i *Index) subtreeNames(top *corev1.Namespace) []string {
	var names []string
	for _, node := range i.Subtree(top) {
		names = append(names, node.Name)
	}
	return names
}

// authorizeName does so for a claim. The edges of a name's rivals are compared at commit, so that two claims at the
// same time cannot both get one name in a view. A namespace that is below the parent already has been in the views
// before, and so has what the propagator takes back after a loss of the hierarchies.
func (c *Claims) authorizeName(ctx context.Context, s *snapshot, reject rejection, field, name, parent string, claim claim) error {
	if claim.old.held() || (claim.joining != nil && accessreview.ByPropagator(ctx)) {
		return nil
	}
	rivals, err := c.authorizer.authorizeNames(ctx, s, reject, field, []string{name}, parent, nil)
	if err != nil {
		return err
	}
	for _, rival := range rivals {
		if _, err := s.edge(ctx, rival); err != nil {
			return err
		}
	}
	var below []string
	if claim.joining != nil {
		below = c.index.subtreeNames(claim.joining)
	}
	for _, orphan := range claim.orphans {
		namespace, err := s.namespace(ctx, orphan)
		if err != nil {
			return err
		}
		if namespace != nil {
			below = append(below, c.index.subtreeNames(namespace)...)
		}
	}
	_, err = c.authorizer.authorizeNames(ctx, s, reject, field, below, parent, nil)
	return err
}

// maxComparedRivals bounds the edges that a move compares, of which a transaction has a limited number. A move with
// more is rare, and can race with a claim of a name that it brings.
const maxComparedRivals = 32

// authorizeNames does so for a move, with all that moves. The edges of the first rivals are compared at commit, as for
// a claim. The propagator only repeats moves that were authorized.
func (m *Moves) authorizeNames(ctx context.Context, s *snapshot, reject rejection, namespace *corev1.Namespace, move move) error {
	if len(move.chain) == 0 || accessreview.ByPropagator(ctx) {
		return nil
	}
	var left []string
	if move.current != "" {
		var err error
		if left, err = newSnapshot(s.index, s.fresh).ancestry(ctx, move.current); err != nil {
			return err
		}
	}
	rivals, err := m.authorizer.authorizeNames(ctx, s, reject, "spec.parent", m.index.subtreeNames(namespace), move.chain[0], left)
	if err != nil {
		return err
	}
	for _, rival := range rivals[:min(len(rivals), maxComparedRivals)] {
		if _, err := s.edge(ctx, rival); err != nil {
			return err
		}
	}
	return nil
}
