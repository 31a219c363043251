package tree

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// HeldBy returns the parent whose Subnamespace holds the namespace, "" if there is none. The annotation of a namespace alone gives no place:
// anybody who may update the namespace can write it.
func (t *Tree) HeldBy(ctx context.Context, namespace *corev1.Namespace) (string, error) {
	var parent string
	_, err := t.judge(ctx, func(v *view) (*fence.Guard, error) {
		parent = ""
		e, err := v.edge(ctx, namespace.Name)
		if err != nil || e.Subnamespace == "" {
			return nil, err
		}
		if current, err := v.namespace(ctx, namespace.Name); err == nil && current != nil && SubnamespaceOf(current) == e.Parent {
			parent = e.Parent
		}
		return nil, nil
	})
	return parent, err
}

// counts says whether an edge without void holders gives the existing namespace its place: its Hierarchy holds the edge, or the Subnamespace
// that holds it is the one that the namespace's annotation names. A cache that says no is not believed.
func (v *view) counts(ctx context.Context, name string, e Edge) (bool, error) {
	if e.Parent == "" || e.Hierarchy != "" {
		return e.Parent != "", nil
	}
	namespace, err := v.namespace(ctx, name)
	if err != nil || namespace == nil {
		return false, err
	}
	if SubnamespaceOf(namespace) == e.Parent || v.fresh {
		return SubnamespaceOf(namespace) == e.Parent, nil
	}
	fresh := newView(v.tree, true)
	if namespace, err = fresh.namespace(ctx, name); err != nil || namespace == nil {
		return false, err
	}
	return SubnamespaceOf(namespace) == e.Parent, nil
}

// CheckPropagator checks a parent that the propagator names. It has no rights of its own in the tree: it repeats what the edge of the namespace
// says, or restores what the tree labels say, which nobody else can write. Requests of other users pass.
func (t *Tree) CheckPropagator(ctx context.Context, namespace *corev1.Namespace, parent string) error {
	if parent == "" || !ByPropagator(ctx) {
		return nil
	}
	_, err := t.judge(ctx, func(v *view) (*fence.Guard, error) {
		e, err := v.edge(ctx, namespace.Name)
		if err != nil || e.Parent == parent {
			return nil, err
		}
		current, err := v.namespace(ctx, namespace.Name)
		if err != nil || (current != nil && current.Labels[hnc.TreeLabel(parent)] == "1") {
			return nil, err
		}
		return nil, refusal(ctx, hnc.Singleton).forbidden("spec.parent: neither a Subnamespace nor the tree labels of namespace %q make it a child of %q; "+
			"set spec.parent as a user who may move the namespace", namespace.Name, parent)
	})
	return err
}

// ByPropagator says whether the propagator makes the request.
func ByPropagator(ctx context.Context) bool {
	user, ok := genericapirequest.UserFrom(ctx)
	return ok && user.GetName() == hnc.PropagatorUser
}
