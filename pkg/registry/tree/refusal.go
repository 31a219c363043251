package tree

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

var errNoUser = errors.New("the request has no user")

// refusals makes the API errors of one request about an object. They name the resource as the client did.
type refusals struct {
	resource schema.GroupResource
	name     string
}

func refusal(ctx context.Context, name string) refusals {
	r := refusals{resource: hnc.Resource("hierarchies"), name: name}
	if info, ok := genericapirequest.RequestInfoFrom(ctx); ok && info.Resource != "" {
		r.resource.Resource = info.Resource
	}
	return r
}

func (r refusals) forbidden(format string, args ...any) error {
	return apierrors.NewForbidden(r.resource, r.name, fmt.Errorf(format, args...))
}

func (r refusals) conflict(format string, args ...any) error {
	return apierrors.NewConflict(r.resource, r.name, fmt.Errorf(format, args...))
}
