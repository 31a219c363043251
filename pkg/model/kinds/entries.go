package kinds

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// Entry is an entry of a configuration or a hierarchy that is in effect.
type Entry struct {
	// Group and Resource are spelled as in the entry.
	Group, Resource string
	Kind            copies.Kind
	Policy          modes.Policy
}

// Problem is an error in an entry.
type Problem struct {
	v1beta1.ResourceSpec
	// At is the index of the entry.
	At int
	// Reason is that of the condition that reports the problem; see Reason.
	Reason string
	Err    error
}

// DuplicateError reports an entry for a kind that has one already.
type DuplicateError struct {
	schema.GroupResource
	// First is the index of the entry that is in effect.
	First int
}

// Error names the resource and suggests a fix.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s is named before as well, and the first entry holds; remove this one", e.GroupResource)
}

// Reason returns the reason of the condition for an error of Resolve: hnc.ReasonUnknown if the kind could not be looked
// up.
func Reason(err error) string {
	var notNamespaced *NotNamespacedError
	var notPropagated *NotPropagatedError
	switch {
	case errors.As(err, &notNamespaced):
		return hnc.ReasonResourceNotNamespaced
	case errors.As(err, &notPropagated):
		return hnc.ReasonResourceNotPropagatable
	case meta.IsNoMatchError(err):
		return hnc.ReasonResourceNotFound
	}
	return hnc.ReasonUnknown
}

// Resolution is what the entries of a field mean in a cluster.
type Resolution struct {
	// Entries are those in effect, in their order.
	Entries  []Entry
	Problems []Problem
}

// ResolveEntries finds the kinds that entries name. onConflict is the default of the configuration. The first of
// several entries for a kind is in effect, and none for an enforced kind. An entry whose kind could not be looked up is
// in effect if find returns a mapping with the error, as functions of Once do.
func ResolveEntries(entries []v1beta1.ResourceSpec, onConflict v1beta1.ConflictPolicy, find FindFunc) Resolution {
	var r Resolution
	first := map[schema.GroupResource]int{}
	for i, entry := range entries {
		add := func(reason string, err error) { r.Problems = append(r.Problems, Problem{entry, i, reason, err}) }
		mapping, err := find(entry.Group, entry.Resource)
		if err != nil {
			add(Reason(err), err)
		}
		if mapping == nil {
			continue
		}
		resource := mapping.Resource.GroupResource()
		at, twice := first[resource]
		switch {
		case slices.Contains(Enforced, resource):
			add(hnc.ReasonMultipleConfigurations, fmt.Errorf("%s is always propagated, and can't be configured; remove this entry", resource))
		case twice:
			add(hnc.ReasonMultipleConfigurations, &DuplicateError{resource, at})
		default:
			first[resource] = i
			kind := copies.Kind{GroupVersionResource: mapping.Resource, Kind: mapping.GroupVersionKind.Kind}
			r.Entries = append(r.Entries, Entry{entry.Group, entry.Resource, kind, modes.New(entry, onConflict)})
		}
	}
	return r
}

// WithPolicies is a kind with the policies for its sources.
type WithPolicies struct {
	Kind copies.Kind
	modes.Policies
}

// All returns the enforced kinds, then those that the configuration names, then those that only hierarchies name, with
// their policies. trees are what the entries of hierarchies mean, by namespace.
func All(cluster Resolution, trees map[string]Resolution) []WithPolicies {
	var all []WithPolicies
	index := map[schema.GroupResource]int{}
	of := func(kind copies.Kind) *WithPolicies {
		i, known := index[kind.GroupResource()]
		if !known {
			i = len(all)
			index[kind.GroupResource()] = i
			all = append(all, WithPolicies{kind, modes.Policies{Cluster: modes.Policy{Mode: v1beta1.Ignore}, Trees: map[string]modes.Policy{}}})
		}
		return &all[i]
	}
	for _, kind := range copies.Kinds {
		of(kind).Cluster.Mode = v1beta1.Propagate
	}
	for _, e := range cluster.Entries {
		of(e.Kind).Cluster = e.Policy
	}
	for _, namespace := range slices.Sorted(maps.Keys(trees)) {
		for _, e := range trees[namespace].Entries {
			of(e.Kind).Trees[namespace] = e.Policy
		}
	}
	return all
}
