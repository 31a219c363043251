package configuration

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
)

// Cluster is what discovery has found.
type Cluster struct {
	Mapper meta.RESTMapper
	// Incomplete says which API groups did not answer, nil if all did.
	Incomplete error
}

// Entry is a kind that the cluster has, and what is to be done with it.
type Entry struct {
	// Group and Resource are as the configuration spells them.
	Group, Resource string
	Kind            copies.Kind
	Policy          copies.Policy
}

// Problem is something that is wrong with the configuration.
type Problem struct {
	// Condition is the type of the condition that it belongs to.
	Condition, Reason, Message string
}

// Resolution is what a configuration means in a cluster.
type Resolution struct {
	// Generation is that of the configuration, 0 if there is none.
	Generation int64
	// Entries are the enforced kinds, then the configured ones in their order.
	Entries  []Entry
	Problems []Problem
}

// Enforced returns the entries that there are whatever the configuration says.
func Enforced() []Entry {
	entries := make([]Entry, 0, len(copies.Kinds))
	for _, kind := range copies.Kinds {
		entries = append(entries, Entry{
			Group: kind.Group, Resource: kind.Resource, Kind: kind, Policy: copies.Policy{Mode: v1beta1.Propagate},
		})
	}
	return entries
}

// Resolve finds the kinds that a configuration, which may be nil, names. old is the resolution before: what it has found stays while an
// API group does not answer.
func Resolve(c *v1beta1.HNCConfiguration, cluster Cluster, old Resolution) Resolution {
	r := Resolution{Entries: Enforced()}
	if c == nil {
		return r
	}
	r.Generation = c.Generation
	for i, spec := range c.Spec.Resources {
		entry, problem := resolve(spec, cluster, old)
		if problem == nil {
			problem = r.twice(entry)
		}
		if problem != nil {
			problem.Message = fmt.Sprintf("spec.resources[%d] (%s): %s", i, schema.GroupResource{Group: spec.Group, Resource: spec.Resource}, problem.Message)
			r.Problems = append(r.Problems, *problem)
			if problem.Condition == hnc.ConditionBadConfiguration || entry.Kind.Empty() {
				continue
			}
		}
		r.Entries = append(r.Entries, entry)
	}
	return r
}

func resolve(spec v1beta1.ResourceSpec, cluster Cluster, old Resolution) (Entry, *Problem) {
	entry := Entry{Group: spec.Group, Resource: spec.Resource, Policy: policy(spec)}
	mapping, err := kinds.Resolve(cluster.Mapper, spec.Group, spec.Resource)
	var notNamespaced *kinds.NotNamespacedError
	var notPropagated *kinds.NotPropagatedError
	switch {
	case err == nil:
		entry.Kind = copies.Kind{GroupVersionResource: mapping.Resource, Kind: mapping.GroupVersionKind.Kind}
		return entry, nil
	case errors.As(err, &notNamespaced):
		return entry, &Problem{hnc.ConditionBadConfiguration, hnc.ReasonResourceNotNamespaced, err.Error()}
	case errors.As(err, &notPropagated):
		return entry, &Problem{hnc.ConditionBadConfiguration, hnc.ReasonResourceNotPropagatable, err.Error()}
	case meta.IsNoMatchError(err) && cluster.Incomplete == nil:
		return entry, &Problem{
			hnc.ConditionBadConfiguration, hnc.ReasonResourceNotFound,
			"the cluster has no such resource; install it, or remove this entry",
		}
	case meta.IsNoMatchError(err):
		err = cluster.Incomplete
	}
	for _, o := range old.Entries {
		if o.Group == spec.Group && o.Resource == spec.Resource {
			entry.Kind = o.Kind
		}
	}
	return entry, &Problem{hnc.ConditionOutOfSync, hnc.ReasonUnknown, fmt.Sprintf("can't be looked for now: %v", err)}
}

// twice returns the problem of an entry whose kind has an entry already: the first one holds.
func (r *Resolution) twice(entry Entry) *Problem {
	resource := entry.Kind.GroupResource()
	first := slices.IndexFunc(r.Entries, func(e Entry) bool { return e.Kind.GroupResource() == resource })
	switch {
	case first < 0:
		return nil
	case slices.Contains(kinds.Enforced, resource):
		return &Problem{
			hnc.ConditionBadConfiguration, hnc.ReasonMultipleConfigurations,
			fmt.Sprintf("%s is always propagated, and can't be configured; remove this entry", resource),
		}
	}
	return &Problem{
		hnc.ConditionBadConfiguration, hnc.ReasonMultipleConfigurations,
		fmt.Sprintf("%s is named before as well, and the first entry holds; remove this one", resource),
	}
}

// policy returns what an entry asks for. Source: spec/hnc.md 3.11.
func policy(spec v1beta1.ResourceSpec) copies.Policy {
	p := copies.Policy{Mode: spec.Mode, Keep: spec.OnConflict == v1beta1.Keep}
	switch spec.Mode {
	case "":
		p.Mode = v1beta1.Propagate
	case v1beta1.Propagate, v1beta1.AllowPropagate, v1beta1.Remove:
	default:
		p.Mode = v1beta1.Ignore
	}
	return p
}
