// Package resourcespec validates the resources that a configuration or a hierarchy names against those that the cluster
// serves.
package resourcespec

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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// Validator validates resources against those that the cluster serves.
type Validator struct{ *kinds.Mapper }

// RequestTime returns when the request was received, or the current time outside of a request. Kinds that were missing
// at that time are discovered again once per request.
func RequestTime(ctx context.Context) time.Time {
	if received, ok := genericapirequest.ReceivedTimestampFrom(ctx); ok {
		return received
	}
	return time.Now()
}

// Validate validates the entries of a field: each must name a namespaced resource that exists and can be configured,
// and no two entries the same one (docs/spec/hnc.md 2.6, K3 to K5). Resources that old contains may have been removed
// from the cluster since.
func (v Validator) Validate(ctx context.Context, at *field.Path, resources, old []hnc.ResourceSpec) field.ErrorList {
	var errs field.ErrorList
	seen := map[schema.GroupResource]int{}
	since := RequestTime(ctx)
	for i, entry := range resources {
		path := at.Index(i)
		named := schema.GroupResource{Group: entry.Group, Resource: entry.Resource}
		mapping, err := v.Find(ctx, since, entry.Group, entry.Resource)
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
