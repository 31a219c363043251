package sources

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// KindPolicy is a kind with its propagation policies.
type KindPolicy struct {
	Kind copies.Kind
	copies.Policies
}

// propagates reports whether any source may have copies.
func (p KindPolicy) propagates() bool {
	for _, policy := range p.Trees {
		if propagated(policy) {
			return true
		}
	}
	return propagated(p.Cluster)
}

// KindPolicies returns the kinds that the modes affect, the enforced ones first. The first of several entries for a
// kind wins. Kinds that do not exist or cannot be propagated are skipped; problems names the kinds that could not be
// resolved. A missing kind triggers discovery unless that has run since the given time.
func (s *Sources) KindPolicies(ctx context.Context, since time.Time, modes Modes) (policies []KindPolicy, problems []string) {
	return kindPolicies(modes, func(group, resource string) (*meta.RESTMapping, error) {
		return s.Mapper.Find(ctx, since, group, resource)
	})
}

// kindPolicies is KindPolicies with a function that finds kinds. That may return a kind with an error: what the name
// meant when it could be resolved.
func kindPolicies(modes Modes, find kinds.FindFunc) (policies []KindPolicy, problems []string) {
	at := map[schema.GroupResource]int{}
	for i, kind := range copies.Kinds {
		at[kind.GroupResource()] = i
		policies = append(policies, KindPolicy{kind, copies.Policies{Cluster: copies.Policy{Mode: v1beta1.Propagate}}})
	}
	find = kinds.Once(find)
	named := map[schema.GroupResource]bool{}
	each := func(specs []hnc.ResourceSpec, f func(p *KindPolicy, policy copies.Policy)) {
		for _, spec := range specs {
			mapping, err := find(spec.Group, spec.Resource)
			var notNamespaced *kinds.NotNamespacedError
			var notPropagated *kinds.NotPropagatedError
			switch {
			case err == nil:
			case meta.IsNoMatchError(err), errors.As(err, &notNamespaced), errors.As(err, &notPropagated):
				continue
			default:
				problems = append(problems, fmt.Sprintf("%s (%v)", spec.Resource, err))
				if mapping == nil {
					continue
				}
			}
			resource := mapping.Resource.GroupResource()
			if slices.Contains(kinds.Enforced, resource) {
				continue
			}
			i, known := at[resource]
			if !known {
				i = len(policies)
				at[resource] = i
				kind := copies.Kind{GroupVersionResource: mapping.Resource, Kind: mapping.GroupVersionKind.Kind}
				policies = append(policies, KindPolicy{kind, copies.Policies{Cluster: copies.Policy{Mode: v1beta1.Ignore}, Trees: map[string]copies.Policy{}}})
			}
			f(&policies[i], copies.NewPolicy(v1beta1.ResourceSpec{
				Mode: v1beta1.SynchronizationMode(spec.Mode), OnConflict: v1beta1.ConflictPolicy(spec.OnConflict),
			}, v1beta1.ConflictPolicy(modes.OnConflict)))
		}
	}
	each(modes.Cluster, func(p *KindPolicy, policy copies.Policy) {
		if resource := p.Kind.GroupResource(); !named[resource] {
			named[resource] = true
			p.Cluster = policy
		}
	})
	for _, namespace := range slices.Sorted(maps.Keys(modes.Trees)) {
		each(modes.Trees[namespace], func(p *KindPolicy, policy copies.Policy) {
			if _, twice := p.Trees[namespace]; !twice {
				p.Trees[namespace] = policy
			}
		})
	}
	return slices.DeleteFunc(policies, KindPolicy.Ignored), problems
}

// PolicyFunc returns the policy of sources as a function of their namespace, nil if there is one policy. chain
// returns a namespace and its ancestors, the namespace first.
func (p KindPolicy) PolicyFunc(chain func(namespace string) []string) func(namespace string) copies.Policy {
	if len(p.Trees) == 0 {
		return nil
	}
	return func(namespace string) copies.Policy { return p.Of(chain(namespace)) }
}
