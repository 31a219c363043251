// Package hierarchyplan serves the subresource hierarchies/plan: the effects of a change before it is made.
package hierarchyplan

import (
	"context"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	seen "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hncconfiguration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// Getter gets objects by name.
type Getter interface {
	Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error)
}

// Store gets and lists objects.
type Store interface {
	Getter
	rest.Lister
}

// Config is the configuration of a Planner.
type Config struct {
	// Lister reads the cluster.
	Lister *ObjectLister
	// Hierarchies, Subnamespaces and Configuration are the storage of this server's resources.
	Hierarchies, Subnamespaces Store
	Configuration              Getter
	// Tree validates and authorizes the change as it does when the change is made.
	Tree *treerules.Tree
	// GetHierarchy returns the stored hierarchy of a namespace.
	GetHierarchy treerules.HierarchyGetter
	// Sources resolves the propagated kinds, and Resources validates changes of them.
	Sources   *sourceindex.Sources
	Resources resourcespec.Validator
	// Authorizer determines what the requester may see.
	Authorizer authorizer.Authorizer
	// Rules are the rules that this server applies.
	Rules *configrules.Current
	// Limits bounds the cost of plans.
	Limits Limits
	// TerminatingBelow returns the names of the terminating namespaces whose tree labels make them children of a
	// namespace, from a cache.
	TerminatingBelow func(parent string) ([]string, error)
}

// Planner makes plans. It reads a snapshot of the namespaces that each one concerns, and evaluates it with the
// propagator's functions.
type Planner struct {
	Config
	limiter *inflight.Limiter
}

// New returns a Planner.
func New(config Config) *Planner {
	return &Planner{config, inflight.New("plans in progress", config.Limits.Concurrent, 1)}
}

// prediction is a plan before it is filtered by the requester's permissions.
type prediction struct {
	*snapshot
	// namespace is the namespace that the change is about.
	namespace string
	refusals  []error
	effects   iter.Seq[plan.Effect]
	// parent is the parent of the namespace after the change, "" for none. Its copies show the requester which
	// sources exist further up.
	parent string
}

// plan returns what the requester may see of a change in a namespace, from a position on. A requester who is not
// allowed to make the change gets the refusals only.
func (p *Planner) plan(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec, from position) (hnc.HierarchyPlanStatus, error) {
	refused, err := p.authorize(ctx, namespace, spec)
	if err == nil {
		err = delayed(refused)
	}
	if err != nil || len(refused) > 0 {
		return hnc.HierarchyPlanStatus{Refusals: refusals(refused)}, err
	}
	release, err := p.limiter.Acquire(ctx)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	defer release()
	// Patterns may be costly, so this comes after the authorization and the limit.
	if spec.Rules != nil {
		if err := invalid(configrules.Validate(hncconfiguration.Versioned(spec.Rules), configrules.Path)); err != nil {
			return hnc.HierarchyPlanStatus{}, err
		}
	}
	if spec.Change == hnc.ChangeParent {
		possible, err := p.Tree.Moves.Preview(ctx, namespace, spec.Parent)
		refused = nonNil(err)
		if err := delayed(refused); err != nil {
			return hnc.HierarchyPlanStatus{}, err
		}
		if !possible {
			return hnc.HierarchyPlanStatus{Refusals: refusals(refused)}, nil
		}
	}
	pr, err := p.predict(ctx, namespace, spec)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	switch spec.Change {
	case hnc.ChangeDelete:
		refused = p.validateDeletion(ctx, pr.tree, namespace)
	case hnc.ChangeConfiguration:
		if err := invalid(p.Resources.Validate(ctx, resourcesPath, spec.Resources, pr.modes.Cluster)); err != nil {
			return hnc.HierarchyPlanStatus{}, err
		}
		refused = nonNil(p.Tree.Overwrites.ValidateConfiguration(ctx, hnc.HNCConfigurationSpec{Resources: pr.modes.Cluster, OnConflict: pr.modes.OnConflict},
			hnc.HNCConfigurationSpec{Resources: spec.Resources, OnConflict: pr.modes.OnConflict}))
	case hnc.ChangeAbstractAncestors:
		refused = p.validateAbstract(ctx, namespace, spec)
	case hnc.ChangePropagation:
		if err := invalid(p.Resources.Validate(ctx, resourcesPath, spec.Resources, pr.modes.Trees[namespace.Name])); err != nil {
			return hnc.HierarchyPlanStatus{}, err
		}
		refused = nonNil(
			p.Tree.Moves.ValidateUnchanged(ctx, namespace, pr.tree.Parent(namespace.Name)),
			p.Tree.Overwrites.ValidatePropagation(ctx, namespace.Name, pr.modes.Trees[namespace.Name], spec.Resources),
		)
	}
	if err := delayed(refused); err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	pr.refusals = refused
	status, err := p.status(ctx, pr, from, effectiveLimit(spec.Limit))
	if err == nil && spec.Change == hnc.ChangeParent && from == (position{}) {
		err = p.exceededQuotas(ctx, p.visibility(pr), namespace, spec.Parent, &status)
	}
	return status, err
}

var resourcesPath = field.NewPath("spec", "resources")

// invalid returns an error if the change itself would be rejected because of its content.
func invalid(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: kind}, hnc.Singleton, errs)
}

// predict returns the effects of an authorized change.
func (p *Planner) predict(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec) (*prediction, error) {
	rules := p.Rules.Load()
	if spec.Change == hnc.ChangeRules {
		var errs field.ErrorList
		if rules, errs = configrules.Of(hncconfiguration.Versioned(spec.Rules)); len(errs) > 0 {
			return nil, apierrors.NewInternalError(errs.ToAggregate()) // plan has validated them
		}
	}
	var others []string
	if spec.Parent != "" {
		others = append(others, spec.Parent)
	}
	if spec.Change == hnc.ChangeRules {
		// Those that leave the tree, because the new rules exclude them, are read as well.
		members, err := p.Tree.Index.Members(ctx, namespace.Name)
		if err != nil {
			return nil, err
		}
		others = members
	}
	t, err := p.readTree(ctx, rules.Managed, namespace.Name, others...)
	if err != nil {
		return nil, internalerror.From(err)
	}
	pr := &prediction{snapshot: &snapshot{tree: t, rules: rules}, namespace: namespace.Name}
	if spec.Change == hnc.ChangeDelete {
		pr.effects = slices.Values(plan.Deletion(t, namespace.Name))
		return pr, nil
	}
	if pr.modes, err = p.modes(ctx, t); err != nil {
		return nil, err
	}
	modes := pr.modes
	left := t.Ancestors(namespace.Name)
	switch spec.Change {
	case hnc.ChangeParent:
		pr.parent = spec.Parent
		plan.Move(t, namespace.Name, spec.Parent)
	case hnc.ChangeAbstractAncestors:
		plan.Abstract(t, namespace.Name, spec.AbstractAncestors)
	case hnc.ChangeConfiguration:
		pr.parent = t.Parent(namespace.Name)
		modes.Cluster = spec.Resources
	case hnc.ChangeRules:
		pr.parent = t.Parent(namespace.Name)
	case hnc.ChangePropagation:
		pr.parent = t.Parent(namespace.Name)
		modes = modes.With(namespace.Name, spec.Resources)
	}
	scope := plan.Scope(t, namespace.Name)
	if spec.Change == hnc.ChangeRules {
		inScope := sets.New(scope...)
		scope = append(scope, slices.DeleteFunc(others, inScope.Has)...)
	}
	read := sets.New(scope...).Insert(t.Ancestors(namespace.Name)...)
	since := p.Sources.DiscoveryTime()
	if len(spec.Resources) > 0 {
		since = resourcespec.RequestTime(ctx)
	}
	// The modes of other trees have no effect here, and the requester may not see them.
	policies, problems := p.Sources.KindPolicies(ctx, since, modes.In(read.Union(sets.New(left...))))
	pr.unknown = problems
	p.readObjects(ctx, pr.snapshot, policies, read)
	pr.effects = plan.Effects(t, pr.indexes, scope)
	if spec.Change == hnc.ChangeAbstractAncestors {
		pr.effects = plan.WithLabels(t, pr.effects, scope)
	}
	return pr, nil
}

// modes returns the configured modes.
func (p *Planner) modes(ctx context.Context, t *seen.Tree) (sourceindex.Modes, error) {
	modes := sourceindex.Modes{Trees: map[string][]hnc.ResourceSpec{}}
	for namespace, resources := range t.PropagationByNamespace() {
		for _, r := range resources {
			var spec hnc.ResourceSpec
			if err := v1beta1.Convert_v1beta1_ResourceSpec_To_hnc_ResourceSpec(&r, &spec, nil); err != nil {
				return modes, err
			}
			modes.Trees[namespace] = append(modes.Trees[namespace], spec)
		}
	}
	c, err := p.Configuration.Get(ctx, hnc.ConfigurationName, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return modes, nil
	}
	if err != nil {
		return modes, err
	}
	configured := c.(*hnc.HNCConfiguration).Spec
	modes.Cluster, modes.OnConflict = configured.Resources, configured.OnConflict
	return modes, nil
}
