package treerules

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
)

// rejection builds the API errors of one request about an object. They name the resource as the client did.
type rejection struct {
	resource schema.GroupResource
	kind     schema.GroupKind
	name     string
	// v1alpha2 reports whether the request uses HNC's version.
	v1alpha2 bool
}

func newRejection(ctx context.Context, name string) rejection {
	r := rejection{resource: hnc.Resource("hierarchies"), kind: schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}, name: name}
	if info, ok := genericapirequest.RequestInfoFrom(ctx); ok && info.Resource != "" {
		r.resource.Resource = info.Resource
		r.v1alpha2 = info.APIVersion == v1alpha2.SchemeGroupVersion.Version
		if info.Resource == "subnamespaces" {
			r.kind.Kind = "Subnamespace"
		}
	}
	return r
}

// invalid rejects a value that would break the structure of the tree. In v1alpha2 the error has the type that HNC gives
// it; otherwise it is Invalid, because kubectl repeats an apply that fails with a conflict.
func (r rejection) invalid(inV1alpha2 func(format string, args ...any) error, at, value, format string, args ...any) error {
	if r.v1alpha2 {
		return inV1alpha2(at+": "+format, args...)
	}
	return apierrors.NewInvalid(r.kind, r.name, field.ErrorList{field.Invalid(fieldPath(at), value, fmt.Sprintf(format, args...))})
}

// fieldPath parses a path of at least two fields.
func fieldPath(at string) *field.Path {
	first, more, _ := strings.Cut(at, ".")
	return field.NewPath(first, more)
}

func (r rejection) forbidden(format string, args ...any) error {
	return apierrors.NewForbidden(r.resource, r.name, fmt.Errorf(format, args...))
}

func (r rejection) conflict(format string, args ...any) error {
	return apierrors.NewConflict(r.resource, r.name, fmt.Errorf(format, args...))
}
