package tree

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Claims validates and authorizes the claims of Subnamespaces: the edges of their names.
type Claims struct {
	index      *Index
	authorizer *Authorizer
	config     *Config
}

// Validate validates that a Subnamespace makes name a child of parent. It returns the fence of the write, with which only one of several parents can
// get a name. Users allowed to create Subnamespaces in the parent need no other right (spec/hnc.md 2.5), unless orphans name the missing namespace
// as their parent.
func (c *Claims) Validate(ctx context.Context, name string, parent *corev1.Namespace) (*fence.Guard, error) {
	return c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		reject := newRejection(ctx, name)
		old, orphans, err := c.validate(ctx, s, reject, "metadata.name", "metadata.namespace", name, parent.Name)
		if err != nil {
			return nil, err
		}
		if err := validatePropagated(ctx, s, reject, name, parent.Name); err != nil {
			return nil, err
		}
		if err := c.authorizer.authorizeAdoption(ctx, reject, "metadata.name", name, orphans); err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		switch {
		case !old.held():
			err = s.limitClaim(ctx, guard, reject, name, parent.Name, orphans)
		case old.Subnamespace == "":
			// What is below the parent already uses its quotas.
			err = s.limitSubnamespaces(ctx, guard, reject, parent.Name, name, 1)
		}
		if err != nil {
			return nil, err
		}
		edgeValue{Parent: parent.Name, Hierarchy: old.Hierarchy, Subnamespace: parent.UID}.write(guard, name)
		return guard, nil
	})
}

// validate validates that name may become a sub-namespace of parent. It returns the current edge of name, and the orphans that would come below it.
// The fields are where the client has named the two.
func (c *Claims) validate(ctx context.Context, s *snapshot, reject rejection, nameField, parentField, name, parent string) (old edgeValue, orphans []string, err error) {
	if why, err := s.excluded(ctx, parent); err != nil {
		return edgeValue{}, nil, err
	} else if why != "" {
		return edgeValue{}, nil, reject.forbidden("namespace %q is %s; it can't have sub-namespaces", parent, why)
	}
	if why, err := s.excluded(ctx, name); err != nil {
		return edgeValue{}, nil, err
	} else if why != "" {
		return edgeValue{}, nil, reject.forbidden("%s: namespace %q is %s; choose another name", nameField, name, why)
	}
	if err := c.validateName(ctx, reject, nameField, name, parent); err != nil {
		return edgeValue{}, nil, err
	}
	if old, err = s.edge(ctx, name); err != nil {
		return edgeValue{}, nil, err
	}
	exists, err := s.namespace(ctx, name)
	if err != nil {
		return edgeValue{}, nil, err
	}
	elsewhere := old.Parent != "" && old.Parent != parent
	switch {
	case exists != nil && exists.DeletionTimestamp != nil:
		return edgeValue{}, nil, reject.conflict("%s: namespace %q is being deleted; try again when it is gone", nameField, name)
	case elsewhere && exists == nil:
		return edgeValue{}, nil, reject.conflict("%s: namespace %q has another parent already; choose another name, "+
			"or try again if it has just been deleted", nameField, name)
	case elsewhere:
		return edgeValue{}, nil, reject.conflict("%s: namespace %q has another parent already; choose another name", nameField, name)
	case exists == nil && old.Subnamespace == "":
		if err := c.authorizeAbstractName(ctx, reject, nameField, name); err != nil {
			return edgeValue{}, nil, err
		}
	case exists == nil:
	case hnc.HasAbstractParent(exists.Labels, hnc.AbstractAncestors(exists.Annotations)):
		return edgeValue{}, nil, reject.conflict("%s: namespace %q has the abstract ancestors %s, so it is a root; choose another name, "+
			"or remove spec.abstractAncestors of its hierarchy", nameField, name, strings.Join(hnc.AbstractAncestors(exists.Annotations), ", "))
	case SubnamespaceOf(exists) != parent:
		return edgeValue{}, nil, reject.conflict("%s: namespace %q exists already; choose another name, "+
			"or set spec.parent of its hierarchy to %q", nameField, name, parent)
	}
	if now, err := s.namespace(ctx, parent); err != nil {
		return edgeValue{}, nil, err
	} else if now == nil {
		return edgeValue{}, nil, reject.forbidden("%s: namespace %q does not exist; create it first", parentField, parent)
	}
	value := parent
	if parentField == nameField {
		value = name
	}
	if _, err = validateParent(ctx, s, reject, parentField, value, name, parent); err != nil || old.held() {
		return old, nil, err
	}
	if exists == nil {
		orphans, err = s.orphans(ctx, name)
		s.unused[name] = err == nil && len(orphans) == 0
	}
	return old, orphans, err
}

// validatePropagated rejects a new namespace below one to which nothing is propagated: whoever has rights in it would have them without the policy from
// above.
func validatePropagated(ctx context.Context, s *snapshot, reject rejection, name, parent string) error {
	exists, err := s.namespace(ctx, name)
	if err != nil || exists != nil {
		return err
	}
	halted, err := s.haltedAt(ctx, parent)
	if err != nil || halted == "" {
		return err
	}
	return reject.forbidden("metadata.namespace: nothing is propagated to namespace %q, because the parent of namespace %q does not exist, is being deleted or is excluded from trees; "+
		"create that parent, or give %q another one first", parent, halted, halted)
}

// Holder returns the parent whose Subnamespace holds the namespace, "" if there is none. The annotation of the namespace alone does not make it a
// sub-namespace, because everybody allowed to update the namespace may write it.
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
