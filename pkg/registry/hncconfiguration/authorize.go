package hncconfiguration

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// authorizeCreatorRole authorizes a new value of spec.creatorRole. The propagator binds the role for each user who
// creates a sub-namespace, and may bind any role. So the requester needs the permission that Kubernetes demands for a
// binding.
func authorizeCreatorRole(ctx context.Context, reviews authorizer.Authorizer, c *hnc.HNCConfiguration, old string) error {
	role := c.Spec.CreatorRole
	if role == "" || role == old {
		return nil
	}
	user, allowed, err := accessreview.Requester(ctx, reviews, authorizer.AttributesRecord{
		Verb:       "bind",
		APIGroup:   rbacv1.GroupName,
		APIVersion: "*",
		Resource:   "clusterroles",
		Name:       role,
	})
	if err != nil || allowed {
		return err
	}
	return apierrors.NewForbidden(hnc.Resource("hncconfigurations"), c.Name, fmt.Errorf("spec.creatorRole: user %q may not give others the ClusterRole %q; "+
		"this needs the verb bind on clusterroles.%s %q", user, role, rbacv1.GroupName, role))
}
