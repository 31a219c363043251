// Package plan serves the subresource plan of hierarchies: what a change would do, before it is made.
package plan

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/plan"
	seen "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sources"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// Getter gets objects by their names.
type Getter interface {
	Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error)
}

// Config is what a Planner needs.
type Config struct {
	// Kubernetes and Dynamic read the cluster.
	Kubernetes kubernetes.Interface
	Dynamic    dynamic.Interface
	// Hierarchies, Subnamespaces and Configuration are this server's own stores.
	Hierarchies, Subnamespaces rest.Lister
	Configuration              Getter
	// Tree judges the change, as it does when it is made.
	Tree *tree.Tree
	// Cascading tells where cascading deletion is allowed.
	Cascading tree.Hierarchies
	// Sources finds the kinds.
	Sources *sources.Sources
	// Authorizer says what the requester may see.
	Authorizer authorizer.Authorizer
	Managed    managed.Rules
	Rules      copies.Rules
}

// Planner makes plans. It reads everything as it is when it is asked, and decides on that as the propagator does.
type Planner struct{ Config }

// made is a plan before it is shown.
type made struct {
	*picture
	refusals []error
	effects  []plan.Effect
	// near is the namespace in which the requester sees what comes from further up as copies; "" for none.
	near string
}

// prepare makes a plan for a change in a namespace.
func (p *Planner) prepare(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec) (*made, error) {
	t, err := p.readTree(ctx)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	m := &made{picture: &picture{tree: t}}
	said, err := p.said(ctx, t)
	if err != nil {
		return nil, err
	}
	possible := true
	switch spec.Change {
	case hnc.ChangeParent:
		possible, m.refusals = p.judgeMove(ctx, namespace, spec.Parent)
		m.near = spec.Parent
		plan.Move(t, namespace.Name, spec.Parent)
	case hnc.ChangeDelete:
		m.refusals = p.judgeDeletion(ctx, t, namespace)
		m.effects = plan.Deletion(t, namespace.Name)
		return m, nil
	case hnc.ChangeConfiguration:
		m.refusals = p.judgeConfiguration(ctx, said.Cluster, spec.Resources)
		m.near = t.Parent(namespace.Name)
		said.Cluster = spec.Resources
	case hnc.ChangePropagation:
		m.refusals = p.judgePropagation(ctx, namespace, t.Parent(namespace.Name), said.Trees[namespace.Name], spec.Resources)
		m.near = t.Parent(namespace.Name)
		said = said.With(namespace.Name, spec.Resources)
	}
	if !possible {
		return m, nil
	}
	treatments, problems := p.Sources.Treatments(said)
	m.unknown = problems
	scope := plan.Scope(t, namespace.Name)
	p.readObjects(ctx, m.picture, treatments, sets.New(scope...).Insert(t.Ancestors(namespace.Name)...))
	m.effects = plan.Effects(t, m.indexes, scope)
	return m, nil
}

// said returns what is said about kinds.
func (p *Planner) said(ctx context.Context, t *seen.Tree) (sources.Said, error) {
	said := sources.Said{Trees: map[string][]hnc.ResourceSpec{}}
	for namespace, resources := range t.SayingPropagation() {
		for _, r := range resources {
			var spec hnc.ResourceSpec
			if err := v1beta1.Convert_v1beta1_ResourceSpec_To_hnc_ResourceSpec(&r, &spec, nil); err != nil {
				return said, err
			}
			said.Trees[namespace] = append(said.Trees[namespace], spec)
		}
	}
	c, err := p.Configuration.Get(ctx, hnc.ConfigurationName, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return said, nil
	}
	if err != nil {
		return said, err
	}
	said.Cluster = c.(*hnc.HNCConfiguration).Spec.Resources
	return said, nil
}
