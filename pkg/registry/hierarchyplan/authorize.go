package hierarchyplan

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	seen "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hncconfiguration"
)

// allowed reports whether the requester has a permission.
func (p *Planner) allowed(ctx context.Context, r permission) bool {
	requester, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false
	}
	decision, _, err := p.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: requester, Verb: r.verb, Namespace: r.namespace, APIGroup: r.resource.Group, APIVersion: "*", Resource: r.resource.Resource,
		Subresource: r.subresource, Name: r.name, ResourceRequest: true,
	})
	return err == nil && decision == authorizer.DecisionAllow
}

// forbidden returns an error if the requester lacks a permission in a namespace under every given name of the
// resource.
func (p *Planner) forbidden(ctx context.Context, verb, namespace, name string, resources ...schema.GroupResource) error {
	for _, resource := range resources {
		if p.allowed(ctx, permission{verb: verb, resource: resource, namespace: namespace, name: name}) {
			return nil
		}
	}
	where := ""
	if namespace != "" {
		where = fmt.Sprintf(" in namespace %q", namespace)
	}
	return apierrors.NewForbidden(resources[0], name, fmt.Errorf("this needs the verb %s on %s%s", verb, resources[0], where))
}

// authorize returns an error for each permission that the requester lacks for the change. It reads nothing that the
// requester may not see.
func (p *Planner) authorize(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec) ([]error, error) {
	switch spec.Change {
	case hnc.ChangeParent:
		// Tree.Preview authorizes the move itself.
		h, err := p.hierarchyOf(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if len(h.Spec.Propagation) > 0 && h.Spec.Parent != spec.Parent {
			_, err = p.Tree.Authorizer.AuthorizePropagation(ctx, namespace.Name, spec.Parent)
		}
		return nonNil(p.authorizeHierarchyUpdate(ctx, namespace.Name), err), nil
	case hnc.ChangeConfiguration:
		return nonNil(p.forbidden(ctx, "update", "", hnc.ConfigurationName, hnc.Resource("hncconfigurations"))), nil
	case hnc.ChangeRules:
		return nonNil(p.forbidden(ctx, "update", "", hnc.ConfigurationName, hnc.Resource("hncconfigurations")),
			hncconfiguration.AuthorizeRules(ctx, p.Authorizer, hnc.ConfigurationName)), nil
	case hnc.ChangePropagation:
		h, err := p.hierarchyOf(ctx, namespace)
		if err != nil {
			return nil, err
		}
		_, err = p.Tree.Authorizer.AuthorizePropagation(ctx, namespace.Name, h.Spec.Parent)
		return nonNil(p.authorizeHierarchyUpdate(ctx, namespace.Name), err), nil
	case hnc.ChangeAbstractAncestors:
		h, err := p.hierarchyOf(ctx, namespace)
		if err != nil {
			return nil, err
		}
		return nonNil(p.authorizeHierarchyUpdate(ctx, namespace.Name),
			p.Tree.Abstract.Authorize(ctx, namespace.Name, h.Spec.AbstractAncestors, spec.AbstractAncestors)), nil
	}
	parent, err := p.subnamespaceParent(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if parent != "" {
		return nonNil(p.forbidden(ctx, "delete", parent, namespace.Name, hnc.Resource("subnamespaces"), hnc.Resource("subnamespaceanchors"))), nil
	}
	return nonNil(p.forbidden(ctx, "delete", namespace.Name, namespace.Name, schema.GroupResource{Resource: "namespaces"})), nil
}

// hierarchyOf returns the hierarchy of a namespace, an empty one if there is none.
func (p *Planner) hierarchyOf(ctx context.Context, namespace *corev1.Namespace) (*hnc.Hierarchy, error) {
	h, err := p.GetHierarchy(ctx, namespace.Name)
	if apierrors.IsNotFound(err) {
		return &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: hnc.Singleton}}, nil
	}
	return h, err
}

// validateAbstract returns the errors of a change of abstract ancestors, for which the requester has the permissions.
func (p *Planner) validateAbstract(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec) []error {
	h, err := p.hierarchyOf(ctx, namespace)
	if err != nil {
		return []error{err}
	}
	before, planned := h.Spec.AbstractAncestors, h.DeepCopy()
	planned.Spec.AbstractAncestors = spec.AbstractAncestors
	if errs := validation.ValidateHierarchyUpdate(planned, h, p.Tree.Authorizer.ManagedKeys(ctx)); len(errs) > 0 {
		return []error{apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}, hnc.Singleton, errs)}
	}
	_, err = p.Tree.Abstract.Validate(ctx, namespace, before, spec.AbstractAncestors, h.Annotations[hnc.AnnotationAllowSharedNames] == "true")
	return nonNil(p.Tree.Moves.ValidateUnchanged(ctx, namespace, h.Spec.Parent), err)
}

// subnamespaceParent returns the namespace that contains the Subnamespace of the given one, "" if there is none.
func (p *Planner) subnamespaceParent(ctx context.Context, namespace *corev1.Namespace) (string, error) {
	parent := managedkeys.SubnamespaceOf(namespace.Annotations)
	if parent == "" {
		return "", nil
	}
	_, err := p.Subnamespaces.Get(genericapirequest.WithNamespace(ctx, parent), namespace.Name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	return parent, err
}

// authorizeHierarchyUpdate returns an error if the requester is not allowed to update the hierarchy of a namespace.
func (p *Planner) authorizeHierarchyUpdate(ctx context.Context, namespace string) error {
	return p.forbidden(ctx, hnc.AdminVerb, namespace, hnc.Singleton, hnc.AdminResources...)
}

// validateDeletion returns the errors of an authorized deletion. This server validates the deletion of a
// Subnamespace; the admission policies (pkg/admissionpolicy) validate the deletion of any other namespace.
func (p *Planner) validateDeletion(ctx context.Context, t *seen.Tree, namespace *corev1.Namespace) []error {
	name := namespace.Name
	if parent := managedkeys.SubnamespaceOf(namespace.Annotations); parent != "" && t.Subnamespace(seen.Key{Parent: parent, Name: name}) != nil {
		above, err := p.Tree.Index.Namespace(ctx, parent)
		if err == nil {
			err = p.Tree.Claims.ValidateDeletion(ctx, name, above, p.GetHierarchy, p.Subnamespaces)
		}
		return nonNil(err)
	}
	if t.HasSubnamespaces(name) && !t.CascadingAllowed(name) {
		return []error{apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, name,
			fmt.Errorf("namespace %q has sub-namespaces: delete them first, or allow their deletion along with it by spec.allowCascadingDeletion of its hierarchy", name))}
	}
	return nil
}

// nonNil returns the errors that are not nil.
func nonNil(errs ...error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}
