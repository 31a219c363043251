package treerules

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// Authorizer authorizes what a write means beyond its own object: permissions in other namespaces, and permissions on
// what it affects.
type Authorizer struct {
	index  *Index
	config *Config
	// hierarchies returns stored ones. It is nil until SetHierarchies is called.
	hierarchies HierarchyGetter
}

// SetHierarchies sets how stored hierarchies are read. Their store needs the tree, so it is called after New, and
// before anything is authorized.
func (a *Authorizer) SetHierarchies(get HierarchyGetter) { a.hierarchies = get }

// ManagedKeys returns the labels and annotations that the requester's objects may set, nil for any: the propagator
// copies those of a Subnamespace, and reports the ones that are no longer managed (docs/spec/hnc.md 2.0, C2).
func (a *Authorizer) ManagedKeys(ctx context.Context) validation.Managed {
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	return a.config.Rules().Keys
}

// authorizeMove authorizes a move from the current parent to the one with the given chain; "" and nil stand for none. A
// move affects both trees: the requester must be admin of the new parent, which validateStructure has checked, and of
// the most recent common ancestor of both parents or, if there is none, of the root of the tree that the namespace
// leaves. The snapshot has read all these chains, so they are compared at commit. Orphans, and children of namespaces
// that are excluded from trees, need permissions on the new parent only (docs/spec/hnc.md 2.4.2, with its holes
// closed). What it changes besides is authorized by authorizeArrival.
func (a *Authorizer) authorizeMove(ctx context.Context, s *snapshot, reject rejection, name, current string, chain []string) error {
	var left []string
	if current != "" {
		var err error
		if left, err = s.ancestry(ctx, current); err != nil {
			return err
		}
	}
	var above []string
	if len(chain) > 0 {
		var err error
		if above, err = s.ancestry(ctx, chain[0]); err != nil {
			return err
		}
	}
	var carries map[string]string
	if len(above) > 0 {
		var err error
		if carries, err = a.carriesPropagation(ctx, s, name); err != nil {
			return err
		}
	}
	if err := a.authorizeArrival(ctx, s, reject, arrival{"spec.parent", name, above, left, chain, carries[name]}); err != nil || current == "" {
		return err
	}
	parent, err := s.namespace(ctx, current)
	if err != nil {
		return err
	}
	unowned := parent == nil
	// Only fresh reads may show that the parent is excluded. A rejection is revalidated with them.
	if s.fresh && !unowned {
		why, err := s.excluded(ctx, current)
		if err != nil {
			return err
		}
		unowned = why != ""
	}
	if unowned {
		return nil
	}
	if i := slices.IndexFunc(left, func(name string) bool { return slices.Contains(above, name) }); i >= 0 {
		return a.requireAdmin(ctx, reject, left[i], "most recent common ancestor of the old and the new parent")
	}
	root := left[len(left)-1]
	if err := a.requireAdmin(ctx, reject, root, "root of the tree that the namespace leaves"); err != nil {
		return err
	}
	return a.authorizeLeaving(ctx, s, reject, root, above)
}

// arrival is a move of a subtree from below one chain to below another.
type arrival struct {
	// field is where the client has named the namespace or its parent.
	field, name string
	// above is the ancestry of the existing namespace below which it comes, nil for none.
	above, from, to []string
	// carries is a namespace of the subtree whose hierarchy sets spec.propagation, "" if there is none.
	carries string
}

// authorizeArrival authorizes what a move changes in the subtree and in the tree that it joins: managed Pod Security
// labels, and what is propagated there, as spec.propagation of the subtree's hierarchies decides from then on.
func (a *Authorizer) authorizeArrival(ctx context.Context, s *snapshot, reject rejection, m arrival) error {
	if err := a.authorizePodSecurityMove(ctx, s, reject, m.field, m.name, m.from, m.to); err != nil || len(m.above) == 0 || m.carries == "" {
		return err
	}
	s.marking = append(s.marking, propagationMarks(m.above)...)
	root := m.above[len(m.above)-1]
	if len(m.from) > 0 && m.from[len(m.from)-1] == root {
		return nil
	}
	return a.requirePropagation(ctx, reject, fmt.Sprintf("%s: spec.propagation of namespace %q", m.field, m.carries), root)
}

// modesUnread rejects what depends on the modes of kinds before they are known.
func modesUnread() error {
	err := apierrors.NewServiceUnavailable("the configuration and spec.propagation of hierarchies have not been read yet; try again")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return err
}

// isAdmin reports whether the requester is an admin of a namespace, "" for all namespaces, and returns the requester's
// name.
func (a *Authorizer) isAdmin(ctx context.Context, namespace string) (requester string, admin bool, err error) {
	return a.allowsAny(ctx, hnc.AdminVerb, namespace, hnc.AdminResources...)
}

// requireAdmin requires that the requester is an admin of a namespace, which has a role in the change.
func (a *Authorizer) requireAdmin(ctx context.Context, reject rejection, namespace, role string) error {
	user, allowed, err := a.isAdmin(ctx, namespace)
	if err != nil || allowed {
		return err
	}
	return reject.notAdmin(user, namespace, role)
}

func (r rejection) notAdmin(user, namespace, role string) error {
	return r.forbidden("user %q may not modify the subtree of namespace %q, which is the %s; "+
		"this needs the verb update on hierarchies.%s there", user, namespace, role, hnc.GroupName)
}

// allowsAny reports whether the requester has the verb on one of the resources in a namespace, "" for all namespaces,
// and returns the requester's name. The propagator is allowed everything, because it only repeats what others were
// authorized to do.
func (a *Authorizer) allowsAny(ctx context.Context, verb, namespace string, resources ...schema.GroupResource) (requester string, allowed bool, err error) {
	if accessreview.ByPropagator(ctx) {
		return hnc.PropagatorUser, true, nil
	}
	for _, resource := range resources {
		requester, allowed, err = a.allows(ctx, authorizer.AttributesRecord{
			Verb:       verb,
			Namespace:  namespace,
			APIGroup:   resource.Group,
			APIVersion: "*",
			Resource:   resource.Resource,
		})
		if err != nil || allowed {
			return requester, allowed, err
		}
	}
	return requester, false, nil
}

// allowsUnlisted reports whether the requester has a permission that discovery does not list in a namespace, "" for all
// namespaces, and returns the requester's name.
func (a *Authorizer) allowsUnlisted(ctx context.Context, permission hnc.Permission, namespace string) (requester string, allowed bool, err error) {
	return a.allows(ctx, authorizer.AttributesRecord{
		Verb:        permission.Verbs[0],
		Namespace:   namespace,
		APIGroup:    permission.Group,
		APIVersion:  "*",
		Resource:    permission.Resource,
		Subresource: permission.Subresource,
	})
}

// allows reports whether the requester has a permission on a resource, and returns the requester's name.
func (a *Authorizer) allows(ctx context.Context, attributes authorizer.AttributesRecord) (requester string, allowed bool, err error) {
	return accessreview.Requester(ctx, a.config.Authorizer, attributes)
}
