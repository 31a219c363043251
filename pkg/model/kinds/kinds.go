// Package kinds resolves the kinds that configurations and hierarchies name, and determines how they are propagated.
package kinds

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

// NotNamespacedError reports a cluster-scoped kind.
type NotNamespacedError struct{ schema.GroupResource }

// Error names the resource and suggests a fix.
func (e *NotNamespacedError) Error() string {
	return fmt.Sprintf("%s is not namespaced, and cannot be propagated; name a namespaced resource", e.GroupResource)
}

// ofServices are written by controllers for the Services of a namespace, with the labels of these. So one of a copied
// Service would look like a copy without a source.
var ofServices = []schema.GroupResource{{Resource: "endpoints"}, {Group: "discovery.k8s.io", Resource: "endpointslices"}}

// NotPropagatedError reports a kind that cannot be propagated because it is part of the hierarchy, or because
// controllers write it for Services.
type NotPropagatedError struct{ schema.GroupResource }

// Error names the resource and suggests a fix.
func (e *NotPropagatedError) Error() string {
	if slices.Contains(ofServices, e.GroupResource) {
		return fmt.Sprintf("%s are written for the Services of each namespace, and cannot be propagated; propagate services", e.GroupResource)
	}
	return fmt.Sprintf("%s is part of the hierarchy itself, and cannot be propagated; name another resource", e.GroupResource)
}

// Resolve returns the mapping of a group and a resource in its preferred version. It ignores case, accepts singular
// and plural names and abbreviated groups, and an empty group matches any (docs/spec/hnc.md 3.12). It fails with
// meta.IsNoMatchError errors, *NotNamespacedError and *NotPropagatedError.
func Resolve(mapper meta.RESTMapper, group, resource string) (*meta.RESTMapping, error) {
	partial := schema.GroupVersionResource{Group: strings.ToLower(group), Resource: strings.ToLower(resource)}
	found, err := OfCluster(mapper, partial)
	if err != nil {
		return nil, err
	}
	if hnc.IsViewGroup(found.Group) {
		return nil, &meta.NoResourceMatchError{PartialResource: partial}
	}
	kind, err := kindOf(mapper, found)
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, &NotNamespacedError{mapping.Resource.GroupResource()}
	}
	if mapping.Resource.Group == hnc.GroupName || mapping.Resource.Group == hnc.ResourcesGroupName || slices.Contains(ofServices, mapping.Resource.GroupResource()) {
		return nil, &NotPropagatedError{mapping.Resource.GroupResource()}
	}
	return mapping, nil
}

// FindFunc finds a kind, as Resolve does.
type FindFunc func(group, resource string) (*meta.RESTMapping, error)

// Names are the kinds that names in lower case mean.
type Names map[schema.GroupResource]lookup

type lookup struct {
	mapping *meta.RESTMapping
	err     error
}

// Once returns a function that looks up each name once, because many hierarchies may name a kind, and a mapper searches
// all kinds of the cluster. If a name cannot be looked up, it returns what the name meant before, nil if it meant
// nothing, with the error. names is what has been looked up. It is not safe for concurrent use.
func Once(find FindFunc, before Names) (once FindFunc, names Names) {
	names = Names{}
	return func(group, resource string) (*meta.RESTMapping, error) {
		name := schema.GroupResource{Group: strings.ToLower(group), Resource: strings.ToLower(resource)}
		f, ok := names[name]
		if !ok {
			if f.mapping, f.err = find(group, resource); f.err != nil && Reason(f.err) == hnc.ReasonUnknown {
				f.mapping = before[name].mapping
			}
			names[name] = f
		}
		return f.mapping, f.err
	}, names
}

// OfCluster returns the resource that a name means, other than one of a view unless the name has the group of a view:
// what tenants call their kinds does not decide what a configuration or a command means. It fails with
// meta.IsNoMatchError and meta.IsAmbiguousError errors.
func OfCluster(mapper meta.RESTMapper, partial schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	found, err := mapper.ResourceFor(partial)
	if hnc.IsViewGroup(partial.Group) || err == nil && !hnc.IsViewGroup(found.Group) || err != nil && !meta.IsAmbiguousError(err) {
		return found, err
	}
	all, allErr := mapper.ResourcesFor(partial)
	if allErr != nil {
		return schema.GroupVersionResource{}, allErr
	}
	others := slices.DeleteFunc(all, func(r schema.GroupVersionResource) bool { return hnc.IsViewGroup(r.Group) })
	switch {
	case len(others) == 0:
		return schema.GroupVersionResource{}, &meta.NoResourceMatchError{PartialResource: partial}
	case len(others) == len(all):
		return schema.GroupVersionResource{}, err
	}
	return others[0], nil
}

// kindOf returns the kind of a resource of exactly this group, of which the groups of views may be longer forms.
func kindOf(mapper meta.RESTMapper, resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	all, err := mapper.KindsFor(resource)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	at := slices.IndexFunc(all, func(k schema.GroupVersionKind) bool { return k.Group == resource.Group })
	if at < 0 {
		return schema.GroupVersionKind{}, &meta.NoResourceMatchError{PartialResource: resource}
	}
	return all[at], nil
}

// Enforced are the kinds that are always propagated and cannot be configured.
var Enforced = []schema.GroupResource{copies.Roles.GroupResource(), copies.RoleBindings.GroupResource()}
