// Package plan serves the subresource plan of hierarchies: what a change would do, before it is made.
package plan

import (
	"context"
	"iter"
	"slices"

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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
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
	Objects    *Objects
	// Hierarchies, Subnamespaces and Configuration are this server's own stores.
	Hierarchies   rest.Lister
	Subnamespaces interface {
		rest.Lister
		Getter
	}
	Configuration Getter
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
	// Limits bounds what plans cost.
	Limits Limits
}

// Planner makes plans. It reads everything as it is when it is asked, and decides on that as the propagator does.
type Planner struct {
	Config
	limiter *inflight.Limiter
}

// New returns a Planner.
func New(config Config) *Planner {
	return &Planner{config, inflight.New("plans in progress", config.Limits.Concurrent, 1)}
}

// made is a plan before it is shown.
type made struct {
	*picture
	// asked is the namespace that the change is about.
	asked    string
	refusals []error
	effects  iter.Seq[plan.Effect]
	// near is the namespace in which the requester sees what comes from further up as copies; "" for none.
	near string
}

// answer makes a plan for a change in a namespace, and returns what the requester may see of it from a place on. A requester who may not make
// the change gets the refusal alone.
func (p *Planner) answer(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec, from place) (hnc.HierarchyPlanStatus, error) {
	refused, err := p.unauthorized(ctx, namespace, spec)
	if err != nil || len(refused) > 0 {
		return hnc.HierarchyPlanStatus{Refusals: refusals(refused)}, err
	}
	release, err := p.limiter.Acquire(ctx)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	defer release()
	if spec.Change == hnc.ChangeParent {
		possible, err := p.Tree.Preview(ctx, namespace, spec.Parent)
		refused = some(err)
		if !possible {
			return hnc.HierarchyPlanStatus{Refusals: refusals(refused)}, nil
		}
	}
	m, err := p.predict(ctx, namespace, spec)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	switch spec.Change {
	case hnc.ChangeDelete:
		refused = p.judgeDeletion(ctx, m.tree, namespace)
	case hnc.ChangeConfiguration:
		refused = some(p.Tree.CheckConfiguration(ctx, hnc.HNCConfigurationSpec{Resources: m.before.Cluster, OnConflict: m.before.OnConflict},
			hnc.HNCConfigurationSpec{Resources: spec.Resources, OnConflict: m.before.OnConflict}))
	case hnc.ChangePropagation:
		refused = some(
			p.Tree.Editable(ctx, namespace, m.tree.Parent(namespace.Name)),
			p.Tree.CheckPropagation(ctx, namespace.Name, m.before.Trees[namespace.Name], spec.Resources),
		)
	}
	m.refusals = refused
	return p.show(ctx, m, from, limit(spec.Limit))
}

// predict returns what an authorized change would do.
func (p *Planner) predict(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec) (*made, error) {
	t, err := p.readTree(ctx)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	m := &made{picture: &picture{tree: t}, asked: namespace.Name}
	if spec.Change == hnc.ChangeDelete {
		m.effects = slices.Values(plan.Deletion(t, namespace.Name))
		return m, nil
	}
	if m.before, err = p.said(ctx, t); err != nil {
		return nil, err
	}
	said := m.before
	left := t.Ancestors(namespace.Name)
	switch spec.Change {
	case hnc.ChangeParent:
		m.near = spec.Parent
		plan.Move(t, namespace.Name, spec.Parent)
	case hnc.ChangeConfiguration:
		m.near = t.Parent(namespace.Name)
		said.Cluster = spec.Resources
	case hnc.ChangePropagation:
		m.near = t.Parent(namespace.Name)
		said = said.With(namespace.Name, spec.Resources)
	}
	scope := plan.Scope(t, namespace.Name)
	read := sets.New(scope...).Insert(t.Ancestors(namespace.Name)...)
	// What other trees say about kinds does not matter here, and is not the requester's to know.
	treatments, problems := p.Sources.Treatments(resourcespec.RequestTime(ctx), said.In(read.Union(sets.New(left...))))
	m.unknown = problems
	p.readObjects(ctx, m.picture, treatments, read)
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
	configured := c.(*hnc.HNCConfiguration).Spec
	said.Cluster, said.OnConflict = configured.Resources, configured.OnConflict
	return said, nil
}
