package configuration

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
)

// Kinds knows the kinds of the cluster.
type Kinds struct{ meta.RESTMapper }

// validate returns what is wrong with the kinds that are named: one that does not exist, is not namespaced, can't be
// configured, or is named twice (spec/hnc.md 2.6, K3 to K5). Kinds that old named as well may have gone since.
func (k Kinds) validate(resources, old []hnc.ResourceSpec) field.ErrorList {
	var errs field.ErrorList
	seen := map[schema.GroupResource]int{}
	for i, entry := range resources {
		path := field.NewPath("spec", "resources").Index(i)
		named := schema.GroupResource{Group: entry.Group, Resource: entry.Resource}
		mapping, err := k.resolve(entry)
		var notNamespaced *kinds.NotNamespacedError
		var notPropagated *kinds.NotPropagatedError
		switch {
		case err == nil:
		case errors.As(err, &notNamespaced), errors.As(err, &notPropagated):
			errs = append(errs, field.Invalid(path, named.String(), err.Error()))
			continue
		case meta.IsNoMatchError(err):
			if !slices.ContainsFunc(old, func(o hnc.ResourceSpec) bool { return o.Group == entry.Group && o.Resource == entry.Resource }) {
				errs = append(errs, field.Invalid(path, named.String(), "the cluster has no such resource; install it first, or correct the name"))
			}
			continue
		default:
			errs = append(errs, field.InternalError(path, fmt.Errorf("cannot look for %s: %w", named, err)))
			continue
		}
		resource := mapping.Resource.GroupResource()
		if slices.Contains(kinds.Enforced, resource) {
			errs = append(errs, field.Invalid(path, named.String(), "is always propagated, and can't be configured; remove it"))
		}
		if first, twice := seen[resource]; twice {
			errs = append(errs, field.Duplicate(path, fmt.Sprintf("%s, which spec.resources[%d] names as well", resource, first)))
			continue
		}
		seen[resource] = i
	}
	return errs
}

// resolve finds the kind of an entry. It looks again for one that is missing: it may have come a moment ago.
func (k Kinds) resolve(entry hnc.ResourceSpec) (*meta.RESTMapping, error) {
	mapping, err := kinds.Resolve(k, entry.Group, entry.Resource)
	if meta.IsNoMatchError(err) {
		meta.MaybeResetRESTMapper(k.RESTMapper)
		return kinds.Resolve(k, entry.Group, entry.Resource)
	}
	return mapping, err
}
