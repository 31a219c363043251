package tree

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Managed returns the labels and annotations that the requester's hierarchies can set, nil for any: the propagator passes
// on what is in a Subnamespace, and reports what is not managed any more (spec/hnc.md 2.0, C2).
func (t *Tree) Managed(ctx context.Context) validation.Managed {
	if ByPropagator(ctx) {
		return nil
	}
	return t.Rules.Keys
}

// Editable judges a change of a Hierarchy that leaves the parent as it is (spec/hnc.md 2.4, H1, H2 and H6).
func (t *Tree) Editable(ctx context.Context, namespace *corev1.Namespace, parent string) error {
	_, err := t.judge(ctx, func(v *view) (*fence.Guard, error) {
		return nil, v.eligible(ctx, refusal(ctx, hnc.Singleton), namespace, parent)
	})
	return err
}

// eligible says why the namespace can't have a Hierarchy that names the parent, whatever the tree is like: one of them is
// excluded, or the namespace is external.
func (v *view) eligible(ctx context.Context, refused refusals, namespace *corev1.Namespace, parent string) error {
	why, err := v.excluded(ctx, namespace.Name)
	if err != nil {
		return err
	}
	if why != "" {
		return refused.forbidden("namespace %q is %s", namespace.Name, why)
	}
	if parent == "" {
		return nil
	}
	if why, err = v.excluded(ctx, parent); err != nil {
		return err
	}
	if why != "" {
		return refused.forbidden("spec.parent: namespace %q is %s; choose another parent", parent, why)
	}
	current, err := v.namespace(ctx, namespace.Name)
	if err != nil {
		return err
	}
	if current == nil {
		current = namespace
	}
	if managed.External(current.Annotations) {
		return refused.forbidden("spec.parent: namespace %q is managed by %q, so it can only be a root; leave the parent out, or remove the namespace's annotation %s",
			namespace.Name, current.Annotations[hnc.AnnotationManagedBy], hnc.AnnotationManagedBy)
	}
	return nil
}

// excluded says why a namespace can't be part of a tree, "" if it can. One that does not exist is judged as if it had no
// labels, which is all that the rules can see of a new sub-namespace.
func (v *view) excluded(ctx context.Context, name string) (string, error) {
	if why := v.tree.Rules.NameExcluded(name); why != "" {
		return why, nil
	}
	namespace, err := v.namespace(ctx, name)
	if err != nil {
		return "", err
	}
	if namespace == nil {
		return v.tree.Rules.Excluded(name, nil), nil
	}
	return v.tree.Rules.Excluded(name, namespace.Labels), nil
}
