// Package accessreview asks who makes a request, and the authorizer for permissions beyond the request itself, such as those
// in other namespaces.
package accessreview

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
)

// ErrNoUser is the cause of an internal error: all requests are authenticated.
var ErrNoUser = errors.New("the request has no user")

// ByPropagator reports whether the propagator makes the request.
func ByPropagator(ctx context.Context) bool {
	user, ok := genericapirequest.UserFrom(ctx)
	return ok && user.GetName() == hnc.PropagatorUser
}

// Requester reports whether the requester has the permission on a resource that the attributes describe, and returns
// the requester's name. It sets the user of the attributes.
func Requester(ctx context.Context, a authorizer.Authorizer, attributes authorizer.AttributesRecord) (name string, allowed bool, err error) {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return "", false, apierrors.NewInternalError(ErrNoUser)
	}
	attributes.User, attributes.ResourceRequest = user, true
	decision, _, err := a.Authorize(ctx, attributes)
	if err != nil {
		return "", false, internalerror.From(err)
	}
	return user.GetName(), decision == authorizer.DecisionAllow, nil
}
