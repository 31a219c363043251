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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
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

// Resolve is kinds.ResolveEntries for stored objects.
func Resolve(resources []hnc.ResourceSpec, onConflict hnc.ConflictPolicy, find kinds.FindFunc) kinds.Resolution {
	entries := make([]v1beta1.ResourceSpec, len(resources))
	for i, r := range resources {
		entries[i] = v1beta1.ResourceSpec{Group: r.Group, Resource: r.Resource, Mode: v1beta1.SynchronizationMode(r.Mode), OnConflict: v1beta1.ConflictPolicy(r.OnConflict)}
	}
	return kinds.ResolveEntries(entries, v1beta1.ConflictPolicy(onConflict), find)
}

// Validate validates the entries of a field: each must name a namespaced resource that exists and can be configured,
// and no two entries the same one (docs/spec/hnc.md 2.6, K3 to K5). Resources that old contains may have been removed
// from the cluster since.
func (v Validator) Validate(ctx context.Context, at *field.Path, resources, old []hnc.ResourceSpec) field.ErrorList {
	var errs field.ErrorList
	since := RequestTime(ctx)
	find := func(group, resource string) (*meta.RESTMapping, error) { return v.Find(ctx, since, group, resource) }
	for _, p := range Resolve(resources, "", find).Problems {
		path := at.Index(p.At)
		named := schema.GroupResource{Group: p.Group, Resource: p.Resource}
		var duplicate *kinds.DuplicateError
		switch {
		case p.Reason == hnc.ReasonResourceNotFound:
			if !slices.ContainsFunc(old, func(o hnc.ResourceSpec) bool { return o.Group == p.Group && o.Resource == p.Resource }) {
				errs = append(errs, field.Invalid(path, named.String(), "the cluster has no such resource; install it first, or correct the name"))
			}
		case p.Reason == hnc.ReasonUnknown:
			errs = append(errs, field.InternalError(path, fmt.Errorf("cannot look for %s: %w", named, p.Err)))
		case errors.As(p.Err, &duplicate):
			errs = append(errs, field.Duplicate(path, fmt.Sprintf("%s, which %s names as well", duplicate.GroupResource, at.Index(duplicate.First))))
		default:
			errs = append(errs, field.Invalid(path, named.String(), p.Err.Error()))
		}
	}
	return validation.Bound(errs)
}
