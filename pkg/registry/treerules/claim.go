package treerules

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Claims validates and authorizes the claims of Subnamespaces: the edges of their names.
type Claims struct {
	index      *Index
	authorizer *Authorizer
	overwrites *Overwrites
	config     *Config
}

// Validate validates that a Subnamespace makes name a child of parent. It returns the fence of the write, with which
// only one of several parents can get a name. Users allowed to create Subnamespaces in the parent need no other
// permission (docs/spec/hnc.md 2.5), unless the claim takes existing namespaces into the tree: orphans that name the
// missing namespace as their parent, or a namespace whose annotation names this one.
func (c *Claims) Validate(ctx context.Context, name string, parent *corev1.Namespace) (*fence.Guard, error) {
	return c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		reject := newRejection(ctx, name)
		claim, err := c.validate(ctx, s, reject, "metadata.name", "metadata.namespace", name, parent.Name)
		if err != nil {
			return nil, err
		}
		if err := validatePropagated(ctx, s, reject, name, parent.Name); err != nil {
			return nil, err
		}
		if err := c.authorizer.authorizeJoining(ctx, reject, "metadata.name", claim.joining, parent.Name); err != nil {
			return nil, err
		}
		if err := claim.adopt(ctx, s, name, c.authorizer.adoption(ctx, reject, "metadata.name", name)); err != nil {
			return nil, err
		}
		if err := c.authorizeName(ctx, s, reject, "metadata.name", name, parent.Name, claim); err != nil {
			return nil, err
		}
		adopted, err := c.authorizeArrivals(ctx, s, reject, name, claim)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		// What is below the parent already uses its quotas.
		if !claim.old.held() {
			if err := s.limitClaim(ctx, guard, reject, name, parent.Name, claim.orphans); err != nil {
				return nil, err
			}
		}
		edgeValue{Parent: parent.Name, Hierarchy: claim.old.Hierarchy, Subnamespace: parent.UID}.write(guard, name)
		if claim.joining != nil {
			return guard, c.overwrites.validateMove(ctx, reject, "metadata.name", claim.joining, claim.chain)
		}
		for _, orphan := range adopted {
			if err := c.overwrites.validateMove(ctx, reject, "metadata.name", orphan, claim.adoptive(name)); err != nil {
				return nil, err
			}
		}
		return guard, nil
	})
}

// claim is a claim of a name that the structure of the tree permits.
type claim struct {
	// old is the current edge of the name.
	old edgeValue
	// orphans are the namespaces that come below it, once adopt has read them.
	orphans []string
	// joining is the existing namespace of that name if it is in no tree yet, nil otherwise.
	joining *corev1.Namespace
	// chain is the chain of the parent.
	chain []string
}

// adoptive returns the chain of the name, to which its orphans move.
func (c claim) adoptive(name string) []string { return append([]string{name}, c.chain...) }

// validate validates that name may become a sub-namespace of parent. The fields are where the client has named the two.
func (c *Claims) validate(ctx context.Context, s *snapshot, reject rejection, nameField, parentField, name, parent string) (claim, error) {
	if why, err := s.excluded(ctx, parent); err != nil {
		return claim{}, err
	} else if why != "" {
		return claim{}, reject.forbidden("namespace %q is %s; it can't have sub-namespaces", parent, why)
	}
	if why, err := s.excluded(ctx, name); err != nil {
		return claim{}, err
	} else if why != "" {
		return claim{}, reject.forbidden("%s: namespace %q is %s; choose another name", nameField, name, why)
	}
	if err := c.validateName(ctx, reject, nameField, name, parent); err != nil {
		return claim{}, err
	}
	old, err := s.edge(ctx, name)
	if err != nil {
		return claim{}, err
	}
	exists, err := s.namespace(ctx, name)
	if err != nil {
		return claim{}, err
	}
	elsewhere := old.Parent != "" && old.Parent != parent
	switch {
	case exists != nil && exists.DeletionTimestamp != nil:
		return claim{}, reject.conflict("%s: namespace %q is being deleted; try again when it is gone", nameField, name)
	case elsewhere && exists == nil:
		return claim{}, reject.conflict("%s: namespace %q has another parent already; choose another name, "+
			"or try again if it has just been deleted", nameField, name)
	case elsewhere:
		return claim{}, reject.conflict("%s: namespace %q has another parent already; choose another name", nameField, name)
	case exists == nil && old.Subnamespace == "":
		if err := c.authorizeAbstractName(ctx, reject, nameField, name); err != nil {
			return claim{}, err
		}
	case exists == nil:
	case hnc.HasAbstractParent(exists.Labels, hnc.AbstractAncestors(exists.Annotations)):
		return claim{}, reject.conflict("%s: namespace %q has the abstract ancestors %s, so it is a root; choose another name, "+
			"or remove spec.abstractAncestors of its hierarchy", nameField, name, strings.Join(hnc.AbstractAncestors(exists.Annotations), ", "))
	case managedkeys.SubnamespaceOf(exists.Annotations) != parent:
		return claim{}, reject.conflict("%s: namespace %q exists already; choose another name, "+
			"or set spec.parent of its hierarchy to %q", nameField, name, parent)
	}
	if now, err := s.namespace(ctx, parent); err != nil {
		return claim{}, err
	} else if now == nil {
		return claim{}, reject.forbidden("%s: namespace %q does not exist; create it first", parentField, parent)
	}
	value := parent
	if parentField == nameField {
		value = name
	}
	chain, err := validateParent(ctx, s, reject, parentField, value, name, parent)
	if err != nil {
		return claim{}, err
	}
	valid := claim{old: old, chain: chain}
	if old.held() {
		return valid, nil
	}
	valid.joining = exists
	if exists != nil {
		err = validateJoin(ctx, s, reject, parentField, parent)
	}
	return valid, err
}

// validatePropagated rejects a new namespace below one to which nothing is propagated: whoever has permissions in it
// would have them without the policy from above.
func validatePropagated(ctx context.Context, s *snapshot, reject rejection, name, parent string) error {
	exists, err := s.namespace(ctx, name)
	if err != nil || exists != nil {
		return err
	}
	halted, why, err := s.haltedAt(ctx, parent, gapMissing, gapEnding, gapExcluded)
	if err != nil || halted == "" {
		return err
	}
	return reject.forbidden("metadata.namespace: nothing is propagated to namespace %q, because the parent of namespace %q %s; give %q another one first",
		parent, halted, why, halted)
}

// Holder returns the parent whose Subnamespace holds the namespace, "" if there is none. The annotation of the
// namespace alone does not make it a sub-namespace, because everybody allowed to update the namespace may write it.
func (c *Claims) Holder(ctx context.Context, namespace *corev1.Namespace) (string, error) {
	var parent string
	_, err := c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		parent = ""
		e, err := s.edge(ctx, namespace.Name)
		if err != nil || e.Subnamespace == "" {
			return nil, err
		}
		effective, err := s.effective(ctx, namespace.Name, edgeValue{Parent: e.Parent, Subnamespace: e.Subnamespace})
		if effective {
			parent = e.Parent
		}
		return nil, err
	})
	return parent, err
}
