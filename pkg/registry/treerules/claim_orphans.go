package treerules

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
)

// maxOrphans bounds the number of reviews for one claim.
const maxOrphans = 100

// adopt reads the orphans of a claimed name that no namespace has and that is not held yet. allow authorizes each before
// the next is read, because there may be any number of them.
func (c *claim) adopt(ctx context.Context, s *snapshot, name string, allow func(orphan string) error) (err error) {
	if c.old.held() || c.joining != nil {
		return nil
	}
	c.orphans, err = s.orphans(ctx, name, allow)
	s.unused[name] = err == nil && len(c.orphans) == 0
	return err
}

// orphans returns the live namespaces that name a missing namespace as their parent. The write compares the mark of the
// name, so that no namespace can come to name it until then. Names that no namespace has named within a day need no
// read, because their mark does not exist. It ends with the first error of allow.
func (s *snapshot) orphans(ctx context.Context, name string, allow func(orphan string) error) ([]string, error) {
	children := s.index.Children(name)
	s.marks[name] = 0
	if s.fresh || len(children) > 0 {
		mark, err := s.index.config.Edges.Mark(ctx, name)
		if err != nil {
			return nil, internalerror.From(err)
		}
		// The mark is read before the index: edges that the index does not contain yet change the mark.
		s.marks[name] = mark
		if err := s.index.WaitUntilFresh(ctx); err != nil {
			return nil, err
		}
		children = s.index.Children(name)
	}
	if s.index.config.SubnamespacesOf != nil {
		annotated, err := s.index.config.SubnamespacesOf(name)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		children = append(children, slices.DeleteFunc(annotated, sets.New(children...).Has)...)
	}
	// The edges of the orphans are not compared: if one leaves in the meantime, the claim is still allowed.
	apart := newSnapshot(s.index, s.fresh)
	var live []string
	for _, child := range children {
		namespace, err := apart.namespace(ctx, child)
		if err != nil {
			return nil, err
		}
		if namespace == nil {
			continue
		}
		edge, err := apart.edge(ctx, child)
		if err != nil {
			return nil, err
		}
		// A sub-namespace that has lost its parent names it in the annotation, with which the parent can take it back.
		if edge.Parent == name || (edge.Parent == "" && managedkeys.SubnamespaceOf(namespace.Annotations) == name) {
			if err := allow(child); err != nil {
				return nil, err
			}
			live = append(live, child)
			s.namespaces[child] = namespace
		}
	}
	return live, nil
}

// authorizeArrivals authorizes what a claim changes in the namespace that joins the tree, or in orphans, as a move would.
// It returns the orphans' namespaces.
func (c *Claims) authorizeArrivals(ctx context.Context, s *snapshot, reject rejection, name string, claim claim) ([]*corev1.Namespace, error) {
	if claim.joining == nil && len(claim.orphans) == 0 {
		return nil, nil
	}
	above, err := s.ancestry(ctx, claim.chain[0])
	if err != nil {
		return nil, err
	}
	// The orphans that name the missing namespace are below it.
	carries, err := c.authorizer.carriesPropagation(ctx, s, append([]string{name}, claim.orphans...)...)
	if err != nil {
		return nil, err
	}
	if claim.joining != nil {
		return nil, c.authorizer.authorizeArrival(ctx, s, reject, arrival{"metadata.name", name, above, nil, claim.chain, carries[name]})
	}
	var adopted []*corev1.Namespace
	for _, orphan := range claim.orphans {
		namespace, err := s.namespace(ctx, orphan)
		if err != nil {
			return nil, err
		}
		if namespace == nil {
			continue
		}
		if err := c.authorizer.authorizeArrival(ctx, s, reject, arrival{"metadata.name", orphan, above, nil, claim.adoptive(name), carries[orphan]}); err != nil {
			return nil, err
		}
		adopted = append(adopted, namespace)
	}
	return adopted, nil
}

// adoption returns a function that authorizes the creation of the missing parent of an orphan as a sub-namespace, which
// takes the orphan into the tree of its parent: the requester must be admin of each orphan. The propagator is not allowed
// to, because it creates sub-namespaces on behalf of others.
func (a *Authorizer) adoption(ctx context.Context, reject rejection, field, name string) func(orphan string) error {
	reviewed, everywhere := 0, false
	return func(orphan string) (err error) {
		if accessreview.ByPropagator(ctx) {
			return reject.missingParent(field, name, "create the Subnamespace yourself, as a user with this permission")
		}
		// The permission in all namespaces comes first, because it suffices for any number of orphans.
		if reviewed == 0 {
			_, everywhere, err = a.isAdmin(ctx, "")
		}
		if reviewed++; err != nil || everywhere {
			return err
		}
		if reviewed > maxOrphans {
			return reject.missingParent(field, name, fmt.Sprintf("for more than %d namespaces it must be granted cluster-wide; choose another name", maxOrphans))
		}
		requester, allowed, err := a.isAdmin(ctx, orphan)
		if err == nil && !allowed {
			err = reject.missingParent(field, name,
				fmt.Sprintf("user %q does not have it; choose another name, or have the admins of these namespaces choose another parent", requester))
		}
		return err
	}
}

// missingParent rejects a claimed name that is the missing parent of orphans. It does not name them, because the
// requester may have no permissions on them.
func (r rejection) missingParent(field, name, hint string) error {
	return r.forbidden("%s: namespace %q does not exist but is the parent of existing namespaces; to create it as a sub-namespace takes the verb "+
		"update on hierarchies.%s in each of them: %s", field, name, hnc.GroupName, hint)
}

// authorizeJoining authorizes a claim that takes an existing namespace without a parent into the tree of the new one.
// The annotation that names the parent is not consent, because everybody allowed to update the namespace may write it:
// the requester must be admin of the namespace and, as for a move, of the parent. The propagator only takes back what
// the tree labels make a child of the parent, as after a loss of the hierarchies.
func (a *Authorizer) authorizeJoining(ctx context.Context, reject rejection, field string, joining *corev1.Namespace, parent string) error {
	if joining == nil {
		return nil
	}
	if accessreview.ByPropagator(ctx) {
		if hnc.IsLabeledChild(joining.Labels, hnc.AbstractAncestors(joining.Annotations), parent) {
			return nil
		}
		return reject.joining(field, joining.Name, parent, "create the Subnamespace yourself, as a user with this permission")
	}
	user, allowed, err := a.isAdmin(ctx, joining.Name)
	if err != nil {
		return err
	}
	if !allowed {
		return reject.joining(field, joining.Name, parent, fmt.Sprintf("user %q does not have it; choose another name", user))
	}
	return a.requireAdmin(ctx, reject, parent, "new parent")
}

// joining rejects a claimed name of an existing namespace that would join the tree.
func (r rejection) joining(field, name, parent, hint string) error {
	return r.forbidden("%s: namespace %q exists and is in no tree; to make it a sub-namespace of %q takes the verb update on hierarchies.%s in it: %s",
		field, name, parent, hnc.GroupName, hint)
}
