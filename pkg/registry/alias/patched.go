package alias

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// patched computes the object that a request asks for. Server-side apply returns errors about the types of fields
// without a status, which would be answered with 500: stored objects have been decoded, so they are about the patch.
type patched struct{ rest.UpdatedObjectInfo }

// UpdatedObject implements rest.UpdatedObjectInfo.
func (p patched) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	obj, err := p.UpdatedObjectInfo.UpdatedObject(ctx, old)
	var status apierrors.APIStatus
	if err == nil || ctx.Err() != nil || errors.As(err, &status) {
		return obj, err
	}
	return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), field.OmitValueType{}, names.ShortenText(err.Error())),
	})
}
