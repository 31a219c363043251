package view

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Create creates an object.
func (r *REST) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Resource.Create(ctx, object, validate, options)
	return created, r.named(err)
}

// Update changes an object, or creates it if that is forced.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, force bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, created, err := r.Resource.Update(ctx, name, rest.WrapUpdatedObjectInfo(info, r.Updates...), validateCreate, validateUpdate, force, options)
	return updated, created, r.named(err)
}

// named makes the error about an invalid object name the kind as the client does: the store knows that of the stored version only
// (spec/hnc.md 2.0, C3).
func (r *REST) named(err error) error {
	var status *apierrors.StatusError
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.ErrStatus.Details == nil || status.ErrStatus.Details.Kind == r.Names.Kind {
		return err
	}
	named := &apierrors.StatusError{ErrStatus: *status.ErrStatus.DeepCopy()}
	if rest, ok := strings.CutPrefix(named.ErrStatus.Message, named.ErrStatus.Details.Kind+"."); ok {
		named.ErrStatus.Message = r.Names.Kind + "." + rest
	}
	named.ErrStatus.Details.Kind = r.Names.Kind
	return named
}
