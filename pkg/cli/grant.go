package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// aggregation is how long Kubernetes may take to aggregate a new ClusterRole.
const aggregation = 30 * time.Second

// checkPropagator returns an error if the propagator may not handle objects of the configured kind. With grant, it gives
// the propagator what it lacks.
func (e *Environment) checkPropagator(ctx context.Context, entry v1beta1.ResourceSpec, grant bool, dry *dryRun) error {
	if dry.client() {
		return nil
	}
	mapper, err := e.mapper()
	if err != nil {
		return err
	}
	found, err := mapper.ResourcesFor(schema.GroupVersionResource{Group: entry.Group, Resource: strings.ToLower(entry.Resource)})
	if err != nil {
		return unknownResource(entry.Resource, err)
	}
	resource := found[0].GroupResource()
	c, err := e.connect()
	if err != nil {
		return err
	}
	lacks, err := propagatorLacks(ctx, c, resource)
	switch {
	case apierrors.IsForbidden(err) && !grant:
		e.warn("whether hnc-propagator has the rights on %s is not known: missing right: %s; if it lacks them, kubectl hns config describe shows OutOfSync",
			resource, missingRight(err))
		return nil
	case err != nil || len(lacks) == 0:
		return err
	case grant:
		return e.grant(ctx, c, resource, dry)
	}
	return fmt.Errorf("the configuration is stored%s, but hnc-propagator may not %s %s, so none are propagated. To grant it these rights, run:\n  kubectl hns config %s --grant",
		dry.suffix(), strings.Join(lacks, ", "), resource, setResourceArgs(entry))
}

// setResourceArgs returns the command that configures a kind as the entry says.
func setResourceArgs(entry v1beta1.ResourceSpec) string {
	args := "set-resource " + entry.Resource
	if entry.Group != "" {
		args += " --group " + entry.Group
	}
	if entry.Mode != "" {
		args += " --mode " + string(entry.Mode)
	}
	return args
}

// propagatorLacks returns the verbs that the propagator needs for objects of a kind and is not allowed.
func propagatorLacks(ctx context.Context, c *cluster, resource schema.GroupResource) ([]string, error) {
	var lacks []string
	for _, verb := range hnc.PropagatorVerbs() {
		review, err := c.kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User:   hnc.PropagatorUser,
				Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + hnc.SystemNamespace, "system:authenticated"},
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: resource.Group, Resource: resource.Resource, Version: "*",
				},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if !review.Status.Allowed {
			lacks = append(lacks, verb)
		}
	}
	return lacks, nil
}

// grant creates a ClusterRole for the kind that is aggregated into the propagator's, and returns when it has taken effect.
func (e *Environment) grant(ctx context.Context, c *cluster, resource schema.GroupResource, dry *dryRun) error {
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "hnc-propagator:" + resource.String(),
			Labels: map[string]string{hnc.LabelAggregateToPropagator: "true"},
		},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{resource.Group}, Resources: []string{resource.Resource}, Verbs: hnc.PropagatorVerbs()}},
	}
	_, err := c.kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{DryRun: dry.options()})
	if err != nil {
		return &failure{fmt.Sprintf("The configuration is stored%s, but hnc-propagator could not be granted the rights on %s:", dry.suffix(), resource), err}
	}
	if _, err := fmt.Fprintf(e.Out, "clusterrole.%s/%s created%s\n", rbacv1.GroupName, role.Name, dry.suffix()); err != nil || dry.any() {
		return err
	}
	return e.wait(ctx, &waiting{timeout: aggregation}, func(ctx context.Context) (string, error) {
		lacks, err := propagatorLacks(ctx, c, resource)
		if err != nil || len(lacks) == 0 {
			return "", err
		}
		return fmt.Sprintf("hnc-propagator may not %s %s yet: no ClusterRole of it aggregates those with the label %s=true",
			strings.Join(lacks, ", "), resource, hnc.LabelAggregateToPropagator), nil
	})
}
