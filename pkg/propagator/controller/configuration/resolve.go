package configuration

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// Cluster is the result of discovery.
type Cluster struct {
	Mapper meta.RESTMapper
	// Incomplete lists the API groups that did not respond, nil if all did.
	Incomplete error
}

// resolvedEntry is a kind that the cluster has, and the policy for its sources.
type resolvedEntry struct {
	// Group and Resource are spelled as in the configuration.
	Group, Resource string
	Kind            copies.Kind
	Policy          copies.Policy
}

// problem is an error in the configuration.
type problem struct {
	// Condition is the type of the condition that reports it.
	Condition, Reason, Message string
}

// resolution is the meaning of a configuration in a cluster.
type resolution struct {
	// Generation is that of the configuration, 0 if there is none.
	Generation int64
	// Entries are the enforced kinds, then the configured ones in their order.
	Entries  []resolvedEntry
	Problems []problem
}

// enforcedEntries returns the entries of the kinds that are always propagated.
func enforcedEntries() []resolvedEntry {
	entries := make([]resolvedEntry, 0, len(copies.Kinds))
	for _, kind := range copies.Kinds {
		entries = append(entries, resolvedEntry{
			Group: kind.Group, Resource: kind.Resource, Kind: kind, Policy: copies.Policy{Mode: v1beta1.Propagate},
		})
	}
	return entries
}

// treeResolutions are the resolutions of the hierarchies of namespaces. Their entries do not include enforced kinds.
type treeResolutions map[string]resolution

// Problematic reports whether one of them has a problem.
func (t treeResolutions) Problematic() bool {
	for _, r := range t {
		if len(r.Problems) > 0 {
			return true
		}
	}
	return false
}

// resolveConfiguration finds the kinds that a configuration, which may be nil, names. old is the previous resolution:
// what it has found stays while an API group does not respond.
func resolveConfiguration(c *v1beta1.HNCConfiguration, cluster Cluster, old resolution) resolution {
	r := resolution{Entries: enforcedEntries()}
	if c == nil {
		return r
	}
	r.Generation = c.Generation
	r.add("spec.resources", c.Spec.Resources, c.Spec.OnConflict, finder(cluster), old)
	return r
}

// resolveTrees finds the kinds that the hierarchies of namespaces name, as resolveConfiguration does. onConflict is the
// default of the configuration.
func resolveTrees(said map[string][]v1beta1.ResourceSpec, onConflict v1beta1.ConflictPolicy, cluster Cluster, old treeResolutions) treeResolutions {
	find := finder(cluster)
	trees := make(treeResolutions, len(said))
	for namespace, resources := range said {
		r := resolution{Entries: enforcedEntries()}
		r.add("spec.propagation", resources, onConflict, find, old[namespace])
		r.Entries = r.Entries[len(enforcedEntries()):]
		trees[namespace] = r
	}
	return trees
}

// add resolves the entries of a field.
func (r *resolution) add(field string, resources []v1beta1.ResourceSpec, onConflict v1beta1.ConflictPolicy, find kinds.FindFunc, old resolution) {
	for i, spec := range resources {
		entry, problem := resolve(spec, onConflict, find, old)
		if problem == nil {
			problem = r.twice(entry)
		}
		if problem != nil {
			problem.Message = fmt.Sprintf("%s[%d] (%s): %s", field, i, schema.GroupResource{Group: spec.Group, Resource: spec.Resource}, problem.Message)
			r.Problems = append(r.Problems, *problem)
			if problem.Condition == hnc.ConditionBadConfiguration || entry.Kind.Empty() {
				continue
			}
		}
		r.Entries = append(r.Entries, entry)
	}
}

// finder returns a function that looks up each kind once. If it finds none while an API group does not respond, it
// returns the error of the group.
func finder(cluster Cluster) kinds.FindFunc {
	return kinds.Once(func(group, resource string) (*meta.RESTMapping, error) {
		mapping, err := kinds.Resolve(cluster.Mapper, group, resource)
		if meta.IsNoMatchError(err) && cluster.Incomplete != nil {
			err = cluster.Incomplete
		}
		return mapping, err
	})
}

func resolve(spec v1beta1.ResourceSpec, onConflict v1beta1.ConflictPolicy, find kinds.FindFunc, old resolution) (resolvedEntry, *problem) {
	entry := resolvedEntry{Group: spec.Group, Resource: spec.Resource, Policy: copies.NewPolicy(spec, onConflict)}
	mapping, err := find(spec.Group, spec.Resource)
	var notNamespaced *kinds.NotNamespacedError
	var notPropagated *kinds.NotPropagatedError
	switch {
	case err == nil:
		entry.Kind = copies.Kind{GroupVersionResource: mapping.Resource, Kind: mapping.GroupVersionKind.Kind}
		return entry, nil
	case errors.As(err, &notNamespaced):
		return entry, &problem{hnc.ConditionBadConfiguration, hnc.ReasonResourceNotNamespaced, err.Error()}
	case errors.As(err, &notPropagated):
		return entry, &problem{hnc.ConditionBadConfiguration, hnc.ReasonResourceNotPropagatable, err.Error()}
	case meta.IsNoMatchError(err):
		return entry, &problem{
			hnc.ConditionBadConfiguration, hnc.ReasonResourceNotFound,
			"the cluster has no such resource; install it, or remove this entry",
		}
	}
	for _, o := range old.Entries {
		if o.Group == spec.Group && o.Resource == spec.Resource {
			entry.Kind = o.Kind
		}
	}
	return entry, &problem{hnc.ConditionOutOfSync, hnc.ReasonUnknown, fmt.Sprintf("can't be looked for now: %v", err)}
}

// twice returns the problem of an entry whose kind has an entry already. The first one is effective.
func (r *resolution) twice(entry resolvedEntry) *problem {
	resource := entry.Kind.GroupResource()
	first := slices.IndexFunc(r.Entries, func(e resolvedEntry) bool { return e.Kind.GroupResource() == resource })
	switch {
	case first < 0:
		return nil
	case slices.Contains(kinds.Enforced, resource):
		return &problem{
			hnc.ConditionBadConfiguration, hnc.ReasonMultipleConfigurations,
			fmt.Sprintf("%s is always propagated, and can't be configured; remove this entry", resource),
		}
	}
	return &problem{
		hnc.ConditionBadConfiguration, hnc.ReasonMultipleConfigurations,
		fmt.Sprintf("%s is named before as well, and the first entry holds; remove this one", resource),
	}
}
