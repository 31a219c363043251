// Package propagatorroles gives hns-propagator the permissions on kinds that are propagated.
package propagatorroles

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Missing returns the verbs on a kind that the propagator needs and is not allowed. An error is that of an access
// review.
func Missing(ctx context.Context, kube kubernetes.Interface, resource schema.GroupResource) ([]string, error) {
	var missing []string
	for _, verb := range hnc.PropagatorVerbs() {
		allowed, err := Allowed(ctx, kube, hnc.PropagatorName, authorizationv1.ResourceAttributes{Verb: verb, Group: resource.Group, Resource: resource.Resource, Version: "*"})
		if err != nil {
			return nil, err
		}
		if !allowed {
			missing = append(missing, verb)
		}
	}
	return missing, nil
}

// Allowed reports whether a server's ServiceAccount is allowed a request. An error is that of the access review.
func Allowed(ctx context.Context, kube kubernetes.Interface, server string, request authorizationv1.ResourceAttributes) (bool, error) {
	review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + hnc.SystemNamespace + ":" + server,
			Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + hnc.SystemNamespace, "system:authenticated"},
			ResourceAttributes: &request,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// Role returns the ClusterRole that grants the permissions on a kind: it is aggregated into the propagator's.
func Role(resource schema.GroupResource) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "hns-propagator:" + resource.String(),
			Labels: map[string]string{hnc.LabelAggregateToPropagator: "true"},
		},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{resource.Group}, Resources: []string{resource.Resource}, Verbs: hnc.PropagatorVerbs()}},
	}
}
