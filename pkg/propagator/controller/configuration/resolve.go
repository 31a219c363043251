package configuration

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// Cluster is the result of discovery.
type Cluster struct {
	Mapper meta.RESTMapper
	// Incomplete lists the API groups that did not respond, nil if all did.
	Incomplete error
}

// find looks up a kind. If it finds none while an API group does not respond, it returns the error of the group.
func (c Cluster) find(group, resource string) (*meta.RESTMapping, error) {
	mapping, err := kinds.Resolve(c.Mapper, group, resource)
	if meta.IsNoMatchError(err) && c.Incomplete != nil {
		err = c.Incomplete
	}
	return mapping, err
}

// problem is an error in the configuration.
type problem struct {
	// Condition is the type of the condition that reports it.
	Condition, Reason, Message string
}

// resolution is the meaning of a configuration and of hierarchies in a cluster.
type resolution struct {
	// Generation is that of the configuration, 0 if there is none.
	Generation int64
	// Resolution is that of the configuration. Its entries begin with the enforced kinds.
	kinds.Resolution
	// Trees are those of the hierarchies, by namespace.
	Trees map[string]kinds.Resolution
	// names are what has been looked up.
	names kinds.Names
}

// resolve finds the kinds that a configuration, which may be nil, and hierarchies name. old is the previous resolution:
// what it has found stays while an API group does not respond.
func resolve(c *v1beta1.HNCConfiguration, trees map[string][]v1beta1.ResourceSpec, cluster Cluster, old resolution) resolution {
	find, names := kinds.Once(cluster.find, old.names)
	r := resolution{Trees: make(map[string]kinds.Resolution, len(trees)), names: names}
	for _, kind := range copies.Kinds {
		r.Entries = append(r.Entries, kinds.Entry{Group: kind.Group, Resource: kind.Resource, Kind: kind, Policy: modes.Policy{Mode: v1beta1.Propagate}})
	}
	var onConflict v1beta1.ConflictPolicy
	if c != nil {
		onConflict = c.Spec.OnConflict
		configured := kinds.ResolveEntries(c.Spec.Resources, onConflict, find)
		r.Generation, r.Entries, r.Problems = c.Generation, append(r.Entries, configured.Entries...), configured.Problems
	}
	for namespace, resources := range trees {
		r.Trees[namespace] = kinds.ResolveEntries(resources, onConflict, find)
	}
	return r
}

// problematic reports whether there is a problem.
func (r resolution) problematic() bool {
	for _, tree := range r.Trees {
		if len(tree.Problems) > 0 {
			return true
		}
	}
	return len(r.Problems) > 0
}

// problemsOf returns the problems of the entries of a field as conditions report them.
func problemsOf(field string, found []kinds.Problem) []problem {
	problems := make([]problem, len(found))
	for i, p := range found {
		condition, message := hnc.ConditionBadConfiguration, p.Err.Error()
		switch p.Reason {
		case hnc.ReasonResourceNotFound:
			message = "the cluster has no such resource; install it, or remove this entry"
		case hnc.ReasonUnknown:
			condition, message = hnc.ConditionOutOfSync, "can't be looked for now: "+message
		}
		problems[i] = problem{condition, p.Reason, fmt.Sprintf("%s[%d] (%s): %s", field, p.At, schema.GroupResource{Group: p.Group, Resource: p.Resource}, message)}
	}
	return problems
}
