package plan

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	seen "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// may says whether the requester may do something with a resource in a namespace, or with the object of a name in it.
func (p *Planner) may(ctx context.Context, verb string, resource schema.GroupResource, namespace, name string) bool {
	requester, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false
	}
	decision, _, err := p.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: requester, Verb: verb, Namespace: namespace, APIGroup: resource.Group, APIVersion: "*", Resource: resource.Resource, Name: name,
		ResourceRequest: true,
	})
	return err == nil && decision == authorizer.DecisionAllow
}

// forbidden is a refusal for want of a right in a namespace, under any of the names of a resource; nil if the requester has it.
func (p *Planner) forbidden(ctx context.Context, verb, namespace, name string, resources ...schema.GroupResource) error {
	for _, resource := range resources {
		if p.may(ctx, verb, resource, namespace, name) {
			return nil
		}
	}
	where := ""
	if namespace != "" {
		where = fmt.Sprintf(" in namespace %q", namespace)
	}
	return apierrors.NewForbidden(resources[0], name, fmt.Errorf("this needs the verb %s on %s%s", verb, resources[0], where))
}

// judgeMove returns why a change of the parent would be refused, and whether the tree permits it at all.
func (p *Planner) judgeMove(ctx context.Context, namespace *corev1.Namespace, parent string) (possible bool, refusals []error) {
	possible, refusals = p.Tree.Preview(ctx, namespace, parent)
	return possible, append(refusals, some(p.mayWrite(ctx, namespace.Name))...)
}

// mayWrite is the refusal of who may not write the hierarchy of a namespace.
func (p *Planner) mayWrite(ctx context.Context, namespace string) error {
	return p.forbidden(ctx, "update", namespace, hnc.Singleton, hnc.Resource("hierarchies"), hnc.Resource("hierarchyconfigurations"))
}

// judgeDeletion returns why a namespace could not be deleted: a sub-namespace by deleting its Subnamespace, as this server judges; another one
// as the admission policies do (pkg/policy).
func (p *Planner) judgeDeletion(ctx context.Context, t *seen.Tree, namespace *corev1.Namespace) []error {
	name := namespace.Name
	if parent := tree.SubnamespaceOf(namespace); parent != "" && t.Subnamespace(seen.Key{Parent: parent, Name: name}) != nil {
		above, err := p.Tree.Namespace(ctx, parent)
		if err == nil {
			err = p.Tree.Deletable(ctx, name, above, p.Cascading)
		}
		return some(p.forbidden(ctx, "delete", parent, name, hnc.Resource("subnamespaces"), hnc.Resource("subnamespaceanchors")), err)
	}
	namespaces := schema.GroupResource{Resource: "namespaces"}
	var subnamespaces error
	if t.HasSubnamespaces(name) && !t.CascadingAllowed(name) {
		subnamespaces = apierrors.NewForbidden(namespaces, name,
			fmt.Errorf("namespace %q has sub-namespaces: delete them first, or allow their deletion along with it by spec.allowCascadingDeletion of its hierarchy", name))
	}
	return some(p.forbidden(ctx, "delete", name, name, namespaces), subnamespaces)
}

// judgeConfiguration returns why other resources of the configuration would be refused.
func (p *Planner) judgeConfiguration(ctx context.Context, before, after []hnc.ResourceSpec) []error {
	return some(
		p.forbidden(ctx, "update", "", hnc.ConfigurationName, hnc.Resource("hncconfigurations")),
		p.Tree.CheckConfiguration(ctx, before, after),
	)
}

// judgePropagation returns why it would be refused that the hierarchy of a namespace says something else about kinds.
func (p *Planner) judgePropagation(ctx context.Context, namespace *corev1.Namespace, parent string, before, after []hnc.ResourceSpec) []error {
	_, err := p.Tree.Propagation(ctx, namespace.Name, parent)
	return some(
		p.Tree.Editable(ctx, namespace, parent),
		err,
		p.Tree.CheckPropagation(ctx, namespace.Name, before, after),
		p.mayWrite(ctx, namespace.Name),
	)
}

// some returns the errors that there are.
func some(errs ...error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}
