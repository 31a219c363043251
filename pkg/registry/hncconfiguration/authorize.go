package hncconfiguration

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// authorizeCreatorRole authorizes a new value of spec.creatorRole. The propagator binds the role for each user who creates a sub-namespace, and may
// bind any role. So the requester needs the right that Kubernetes demands for a binding.
func authorizeCreatorRole(ctx context.Context, reviews authorizer.Authorizer, c *hnc.HNCConfiguration, old string) error {
	role := c.Spec.CreatorRole
	if role == "" || role == old {
		return nil
	}
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errors.New("the request has no user"))
	}
	decision, _, err := reviews.Authorize(ctx, authorizer.AttributesRecord{
		User:            user,
		Verb:            "bind",
		APIGroup:        rbacv1.GroupName,
		APIVersion:      "*",
		Resource:        "clusterroles",
		Name:            role,
		ResourceRequest: true,
	})
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if decision == authorizer.DecisionAllow {
		return nil
	}
	return apierrors.NewForbidden(hnc.Resource("hncconfigurations"), c.Name, fmt.Errorf("spec.creatorRole: user %q may not give others the ClusterRole %q; "+
		"this needs the verb bind on clusterroles.%s %q", user.GetName(), role, rbacv1.GroupName, role))
}
