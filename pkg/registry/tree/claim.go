package tree

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Claim judges that a Subnamespace makes name a child of parent. It returns the fence of the write, by which only one
// of several parents can get a name. A user allowed to create Subnamespaces in the parent needs no other right (spec/hnc.md 2.5), except
// the namespaces that name a missing one as their parent.
func (t *Tree) Claim(ctx context.Context, name string, parent *corev1.Namespace) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		refused := refusal(ctx, name)
		old, orphans, err := v.claim(ctx, refused, "metadata.name", "metadata.namespace", name, parent.Name)
		if err != nil {
			return nil, err
		}
		if err := t.authorizeAdoption(ctx, refused, "metadata.name", name, orphans); err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		Edge{Parent: parent.Name, Hierarchy: old.Hierarchy, Subnamespace: parent.UID}.write(guard, name)
		return guard, nil
	})
}

// Require judges that the Hierarchy of parent requires children by the given names, at the given places of its list: that the requester may
// create Subnamespaces of these names there. It is advisory: the name is claimed when the Subnamespace is created.
func (t *Tree) Require(ctx context.Context, names map[int]string, parent *corev1.Namespace) error {
	if len(names) == 0 {
		return nil
	}
	refused := refusal(ctx, hnc.Singleton)
	user, may, err := t.may(ctx, "create", hnc.GroupName, parent.Name, "subnamespaces", "subnamespaceanchors")
	if err != nil {
		return err
	}
	if !may {
		return refused.forbidden("spec.requiredChildren: user %q may not create sub-namespaces in namespace %q; "+
			"this needs the verb create on subnamespaces.%s there", user, parent.Name, hnc.GroupName)
	}
	for _, i := range slices.Sorted(maps.Keys(names)) {
		at := fmt.Sprintf("spec.requiredChildren[%d]", i)
		if _, err := t.judge(ctx, func(v *view) (*fence.Guard, error) {
			_, orphans, err := v.claim(ctx, refused, at, at, names[i], parent.Name)
			if err == nil && len(orphans) > 0 {
				err = refused.missingParent(at, names[i], orphans, "create the Subnamespace first, as a user with this right")
			}
			return nil, err
		}); err != nil {
			return err
		}
	}
	return nil
}

// claim says why name can't become a sub-namespace of parent, and returns its present edge if it can, and the namespaces that would come
// below it. The fields are where the client has named the two.
func (v *view) claim(ctx context.Context, refused refusals, nameField, parentField, name, parent string) (old Edge, orphans []string, err error) {
	if why, err := v.excluded(ctx, parent); err != nil {
		return Edge{}, nil, err
	} else if why != "" {
		return Edge{}, nil, refused.forbidden("namespace %q is %s; it can't have sub-namespaces", parent, why)
	}
	if why, err := v.excluded(ctx, name); err != nil {
		return Edge{}, nil, err
	} else if why != "" {
		return Edge{}, nil, refused.forbidden("%s: namespace %q is %s; choose another name", nameField, name, why)
	}
	if err := v.checkName(ctx, refused, nameField, name, parent); err != nil {
		return Edge{}, nil, err
	}
	if old, err = v.edge(ctx, name); err != nil {
		return Edge{}, nil, err
	}
	if old.Parent != "" && old.Parent != parent {
		return Edge{}, nil, refused.conflict("%s: namespace %q has another parent already; choose another name", nameField, name)
	}
	exists, err := v.namespace(ctx, name)
	if err != nil {
		return Edge{}, nil, err
	}
	switch {
	case exists == nil:
	case exists.DeletionTimestamp != nil:
		return Edge{}, nil, refused.conflict("%s: namespace %q is being deleted; try again when it is gone", nameField, name)
	case SubnamespaceOf(exists) != parent:
		return Edge{}, nil, refused.conflict("%s: namespace %q exists already; choose another name, "+
			"or set spec.parent of its hierarchy to %q", nameField, name, parent)
	}
	if now, err := v.namespace(ctx, parent); err != nil {
		return Edge{}, nil, err
	} else if now == nil {
		return Edge{}, nil, refused.forbidden("%s: namespace %q does not exist; create it first", parentField, parent)
	}
	value := parent
	if parentField == nameField {
		value = name
	}
	if _, err = v.parentChain(ctx, refused, parentField, value, name, parent); err != nil || old.held() {
		return old, nil, err
	}
	if exists == nil {
		orphans, err = v.orphans(ctx, name)
	}
	return old, orphans, err
}

// Release returns the fence of the write by which the Subnamespace name goes from its parent. If nothing else keeps a living namespace in its
// place, that makes it a root, and takes the same rights.
func (t *Tree) Release(ctx context.Context, name, parent string) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		edge, err := v.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if edge.Parent != parent {
			return guard, nil
		}
		counts, err := v.counts(ctx, name, edge)
		if err != nil {
			return nil, err
		}
		edge.Subnamespace = ""
		edge.write(guard, name)
		if edge.held() || !counts {
			return guard, nil
		}
		for _, at := range []string{name, parent} {
			if living, err := v.living(ctx, at); err != nil || living == nil {
				return guard, err
			}
		}
		return guard, t.authorizeMove(ctx, v, refusal(ctx, name), parent, nil)
	})
}

// Deletable judges that the Subnamespace name may be deleted together with its namespace: unless it has children, and
// neither it nor an ancestor allows cascading deletion. It is advisory: children may come until the namespace is gone.
func (t *Tree) Deletable(ctx context.Context, name string, parent *corev1.Namespace, hierarchies Hierarchies) error {
	children := t.Children(name)
	if parent.DeletionTimestamp != nil || len(children) == 0 {
		return nil
	}
	namespace, err := t.Namespace(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if SubnamespaceOf(namespace) != parent.Name || namespace.DeletionTimestamp != nil {
		return nil
	}
	_, err = t.judge(ctx, func(v *view) (*fence.Guard, error) {
		chain, err := v.ancestry(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, at := range chain {
			hierarchy, err := hierarchies(ctx, at)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if allowed := hierarchy.Spec.AllowCascadingDeletion; allowed != nil && *allowed {
				return nil, nil
			}
		}
		// The content of a namespace that is being deleted has to go, even if the cache doesn't know of it yet.
		if now, err := v.namespace(ctx, parent.Name); err != nil || now == nil || now.DeletionTimestamp != nil {
			return nil, err
		}
		child, err := v.firstOf(ctx, children, name)
		if err != nil || child == "" {
			return nil, err
		}
		return nil, refusal(ctx, name).forbidden("namespace %q has children and does not allow cascading deletion; "+
			"delete them first, or set spec.allowCascadingDeletion of the hierarchy in namespace %q", name, name)
	})
	return err
}

// firstOf returns the first of the children whose parent is still the given one, "" if they have all left.
func (v *view) firstOf(ctx context.Context, children []string, parent string) (string, error) {
	for _, child := range children {
		edge, err := v.edge(ctx, child)
		if err != nil {
			return "", err
		}
		if edge.Parent == parent {
			return child, nil
		}
	}
	return "", nil
}
