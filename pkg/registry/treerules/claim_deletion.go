package treerules

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	model "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// ValidateDeletion validates that the Subnamespace name is deleted along with its namespace. A namespace with children
// needs cascading deletion, allowed by it or by an ancestor. It is advisory, because children may be added until the
// namespace is gone; the propagator, which deletes the namespace, applies the same rule, and keeps a namespace that has
// children by then.
func (c *Claims) ValidateDeletion(ctx context.Context, name string, parent *corev1.Namespace, hierarchies HierarchyGetter, subnamespaces rest.Getter) error {
	children := c.index.Children(name)
	if parent.DeletionTimestamp != nil || len(children) == 0 {
		return nil
	}
	namespace, err := c.index.Namespace(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return internalerror.From(err)
	}
	if managedkeys.SubnamespaceOf(namespace.Annotations) != parent.Name || namespace.DeletionTimestamp != nil {
		return nil
	}
	_, err = c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		chain, err := s.ancestry(ctx, name)
		if err != nil {
			return nil, err
		}
		for i, at := range chain {
			namespace, err := s.namespace(ctx, at)
			if err != nil {
				return nil, err
			}
			parentGone := false
			if i+1 < len(chain) {
				above, err := s.namespace(ctx, chain[i+1])
				if err != nil {
					return nil, err
				}
				parentGone = above == nil
			}
			stored, err := hierarchies(ctx, at)
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, err
			}
			hierarchy, err := HierarchyRecord(stored)
			if err != nil {
				return nil, err
			}
			if namespace != nil && model.NewNamespace(namespace).AllowsCascading(hierarchy, parentGone) {
				return nil, nil
			}
		}
		// The content of a parent that is being deleted has to be removed, even if the cache does not contain the
		// deletion yet.
		if now, err := s.namespace(ctx, parent.Name); err != nil || now == nil || now.DeletionTimestamp != nil {
			return nil, err
		}
		child, err := s.firstChildOf(ctx, children, name, subnamespaces)
		if err != nil || child == "" {
			return nil, err
		}
		return nil, newRejection(ctx, name).forbidden("namespace %q has children and does not allow cascading deletion; "+
			"delete them first, or set spec.allowCascadingDeletion of the hierarchy in namespace %q", name, name)
	})
	return err
}

// firstChildOf returns the first of the names whose parent is still the given one, "" if there is none. Namespaces that
// are gone or being deleted do not count, although their objects still hold the edge, unless a Subnamespace is there to
// create them (again).
func (s *snapshot) firstChildOf(ctx context.Context, names []string, parent string, subnamespaces rest.Getter) (string, error) {
	for _, name := range names {
		edge, err := s.edge(ctx, name)
		if err != nil {
			return "", err
		}
		if edge.Parent != parent {
			continue
		}
		if namespace, err := s.activeNamespace(ctx, name); err != nil || namespace != nil {
			return name, err
		}
		if edge.Subnamespace == "" {
			continue
		}
		child, err := subnamespaces.Get(genericapirequest.WithNamespace(ctx, parent), name, &metav1.GetOptions{})
		if apierrors.IsNotFound(err) || (err == nil && child.(*hnc.Subnamespace).DeletionTimestamp != nil) {
			continue
		}
		return name, err
	}
	return "", nil
}
