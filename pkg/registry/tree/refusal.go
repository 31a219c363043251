package tree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
)

var errNoUser = errors.New("the request has no user")

// refusals makes the API errors of one request about an object. They name the resource as the client did.
type refusals struct {
	resource schema.GroupResource
	kind     schema.GroupKind
	name     string
	// byHNC says that the client speaks v1alpha2.
	byHNC bool
}

func refusal(ctx context.Context, name string) refusals {
	r := refusals{resource: hnc.Resource("hierarchies"), kind: schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}, name: name}
	if info, ok := genericapirequest.RequestInfoFrom(ctx); ok && info.Resource != "" {
		r.resource.Resource = info.Resource
		r.byHNC = info.APIVersion == v1alpha2.SchemeGroupVersion.Version
		if info.Resource == "subnamespaces" {
			r.kind.Kind = "Subnamespace"
		}
	}
	return r
}

// illegal refuses a value that would break the structure of the tree: it is invalid. In v1alpha2 it is what it was in HNC, as given: kubectl
// repeats an apply that is answered with a conflict.
func (r refusals) illegal(inHNC func(format string, args ...any) error, at, value, format string, args ...any) error {
	if r.byHNC {
		return inHNC(at+": "+format, args...)
	}
	return apierrors.NewInvalid(r.kind, r.name, field.ErrorList{field.Invalid(fieldPath(at), value, fmt.Sprintf(format, args...))})
}

// fieldPath returns the path that is written as at.
func fieldPath(at string) *field.Path {
	first, more, _ := strings.Cut(at, ".")
	return field.NewPath(first, more)
}

func (r refusals) forbidden(format string, args ...any) error {
	return apierrors.NewForbidden(r.resource, r.name, fmt.Errorf(format, args...))
}

func (r refusals) conflict(format string, args ...any) error {
	return apierrors.NewConflict(r.resource, r.name, fmt.Errorf(format, args...))
}
