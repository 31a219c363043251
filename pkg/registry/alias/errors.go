package alias

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// withKind replaces the kind in the error about an invalid object by that of the requested version, because the store
// knows the kind of the storage version only (docs/spec/hnc.md 2.0, C3).
func (r *REST) withKind(err error) error {
	var status *apierrors.StatusError
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.ErrStatus.Details == nil || status.ErrStatus.Details.Kind == r.Names.Kind {
		return err
	}
	converted := &apierrors.StatusError{ErrStatus: *status.ErrStatus.DeepCopy()}
	if rest, ok := strings.CutPrefix(converted.ErrStatus.Message, converted.ErrStatus.Details.Kind+"."); ok {
		converted.ErrStatus.Message = r.Names.Kind + "." + rest
	}
	converted.ErrStatus.Details.Kind = r.Names.Kind
	return converted
}
