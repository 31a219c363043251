// Package kinds checks the kinds that a configuration or a hierarchy names: they must exist in the cluster.
package kinds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
)

// Kinds knows the kinds of the cluster.
type Kinds struct{ *kinds.Mapper }

// Since returns when the request was received, or the present time. A kind that was missing then is looked for once for the whole request.
func Since(ctx context.Context) time.Time {
	if received, ok := genericapirequest.ReceivedTimestampFrom(ctx); ok {
		return received
	}
	return time.Now()
}

// Validate returns what is wrong with the kinds that the entries of a field name: one that does not exist, is not namespaced, can't be
// configured, or is named twice (spec/hnc.md 2.6, K3 to K5). Kinds that old named as well may have gone since.
func (k Kinds) Validate(ctx context.Context, at *field.Path, resources, old []hnc.ResourceSpec) field.ErrorList {
	var errs field.ErrorList
	seen := map[schema.GroupResource]int{}
	since := Since(ctx)
	for i, entry := range resources {
		path := at.Index(i)
		named := schema.GroupResource{Group: entry.Group, Resource: entry.Resource}
		mapping, err := k.Find(since, entry.Group, entry.Resource)
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
			errs = append(errs, field.Duplicate(path, fmt.Sprintf("%s, which %s names as well", resource, at.Index(first))))
			continue
		}
		seen[resource] = i
	}
	return errs
}
