package tree

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
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
		counts, err := v.counts(ctx, namespace.Name, Edge{Parent: e.Parent, Subnamespace: e.Subnamespace})
		if counts {
			parent = e.Parent
		}
		return nil, err
	})
	return parent, err
}

// counts says whether an edge without void holders gives the existing namespace its place: its Hierarchy holds the edge, or a Subnamespace
// does whose sub-namespace it is. A cache that says no is not believed.
func (v *view) counts(ctx context.Context, name string, e Edge) (bool, error) {
	if e.Parent == "" || e.Hierarchy != "" {
		return e.Parent != "", nil
	}
	namespace, err := v.namespace(ctx, name)
	if err != nil || namespace == nil {
		return false, err
	}
	if belongs(namespace, e.Parent) || v.fresh {
		return belongs(namespace, e.Parent), nil
	}
	fresh := newView(v.tree, true)
	if namespace, err = fresh.namespace(ctx, name); err != nil || namespace == nil {
		return false, err
	}
	return belongs(namespace, e.Parent), nil
}

// ancestry returns the chain of a namespace up to the first that exists and whose edge does not count: a Subnamespace that waits for the name of
// somebody else's namespace gives no rights on that. What must have no cycles is the whole chain.
func (v *view) ancestry(ctx context.Context, name string) ([]string, error) {
	chain, err := v.chain(ctx, name)
	if err != nil {
		return nil, err
	}
	for i, at := range chain[:len(chain)-1] {
		e, err := v.edge(ctx, at)
		if err != nil {
			return nil, err
		}
		if e.Hierarchy != "" {
			continue
		}
		if exists, err := v.namespace(ctx, at); err != nil {
			return nil, err
		} else if exists == nil {
			continue
		}
		counts, err := v.counts(ctx, at, e)
		if err != nil {
			return nil, err
		}
		if !counts {
			return chain[:i+1], nil
		}
	}
	return chain, nil
}

// belongs says whether a namespace is a sub-namespace of the parent if that has a Subnamespace of its name: its annotation says so, or did when
// the propagator wrote the tree labels. Removing the annotation is no way out of the tree.
func belongs(namespace *corev1.Namespace, parent string) bool {
	switch of := SubnamespaceOf(namespace); {
	case managed.External(namespace.Annotations):
		return false
	case of != "":
		return of == parent
	}
	return namespace.Labels[hnc.TreeLabel(parent)] == "1"
}

// living returns a namespace that exists and is not being deleted, nil otherwise.
func (v *view) living(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace, err := v.namespace(ctx, name)
	if err != nil || namespace == nil || namespace.DeletionTimestamp != nil {
		return nil, err
	}
	return namespace, nil
}

// Living says whether a namespace exists now and is not being deleted.
func (t *Tree) Living(ctx context.Context, name string) (bool, error) {
	namespace, err := (&view{tree: t, fresh: true, namespaces: map[string]*corev1.Namespace{}}).living(ctx, name)
	return namespace != nil, err
}

// Void returns the fence of the write by which the Subnamespace name of a parent becomes void. The namespace keeps its place, so its Hierarchy
// has to name the parent first.
func (t *Tree) Void(ctx context.Context, name, parent string) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		edge, err := v.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if edge.Parent != parent || edge.Subnamespace == "" {
			return guard, nil
		}
		counts, err := v.counts(ctx, name, edge)
		if err != nil {
			return nil, err
		}
		if counts && edge.Hierarchy == "" {
			return nil, refusal(ctx, name).conflict("the hierarchy of namespace %q does not name the parent %q yet; set its spec.parent first", name, parent)
		}
		edge.Subnamespace = ""
		edge.write(guard, name)
		return guard, nil
	})
}

// CheckPropagator checks a parent that the propagator names. It has no rights of its own in the tree: it repeats what the edge of the namespace
// says, or restores what the tree labels say, which nobody else can write. Requests of other users pass.
func (t *Tree) CheckPropagator(ctx context.Context, namespace *corev1.Namespace, parent string) error {
	if parent == "" || !ByPropagator(ctx) {
		return nil
	}
	_, err := t.judge(ctx, func(v *view) (*fence.Guard, error) {
		e, err := v.edge(ctx, namespace.Name)
		if err != nil {
			return nil, err
		}
		if e.Parent == parent {
			if counts, err := v.counts(ctx, namespace.Name, e); err != nil || counts {
				return nil, err
			}
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
