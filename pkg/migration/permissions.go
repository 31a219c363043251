package migration

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// permission is what the steps do with a resource.
type permission struct {
	group, resource, namespace, name string
	verbs                            []string
}

// permissions are those that the migration and its rollback need.
var permissions = []permission{
	{"admissionregistration.k8s.io", "validatingadmissionpolicies", "", "", []string{"create", "get", "update", "delete"}},
	{"admissionregistration.k8s.io", "validatingadmissionpolicybindings", "", "", []string{"create", "get", "list", "delete"}},
	{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", "", "", []string{"list", "delete"}},
	{"admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "", []string{"create", "get", "list", "delete"}},
	{"admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", "", []string{"create", "get", "delete"}},
	{"apiextensions.k8s.io", "customresourcedefinitions", "", "", []string{"create", "get", "delete"}},
	{"apiregistration.k8s.io", "apiservices", "", "", []string{"create", "get", "update", "patch", "delete"}},
	{hnc.GroupName, "*", "", "", []string{"create", "get", "list", "update", "delete"}},
	// Rules for namespaces, from HNC's flags, require update.
	{"", "namespaces", "", "", []string{"get", "list", "create", "update", "patch"}},
	{"", "configmaps", hnc.SystemNamespace, "", []string{"create", "get", "update", "delete"}},
	{"", "pods", hnc.HNCNamespace, "", []string{"list"}},
	{"apps", "deployments", hnc.HNCNamespace, "", []string{"get"}},
	{"apps", "deployments", hnc.SystemNamespace, hnc.PropagatorName, []string{"get"}},
	{"apps", "deployments/scale", hnc.HNCNamespace, "", []string{"get", "patch"}},
	{"apps", "deployments/scale", hnc.SystemNamespace, hnc.PropagatorName, []string{"get", "patch"}},
	{"apps", "deployments/scale", hnc.SystemNamespace, hnc.SyncName, []string{"get", "patch"}},
	{"coordination.k8s.io", "leases", hnc.SystemNamespace, hnc.PropagatorName, []string{"get"}},
	{"coordination.k8s.io", "leases", hnc.SystemNamespace, hnc.SyncName, []string{"get"}},
	// A rollback deletes those of quotas with scopes.
	{"", "resourcequotas", "", "", []string{"list", "delete"}},
	// A rollback deletes the ClusterRoles that the migration has created.
	{"rbac.authorization.k8s.io", "clusterroles", "", "", []string{"list", "delete"}},
	// Subnamespaces are created on behalf of hns-propagator, and what it will write is computed by dry runs with its
	// permissions.
	{"", "serviceaccounts", hnc.SystemNamespace, hnc.PropagatorName, []string{"impersonate"}},
}

// checkPermissions returns an error that lists the permissions that the user lacks.
func (c *clients) checkPermissions(ctx context.Context) error {
	var missing []string
	for _, r := range permissions {
		resource, subresource, _ := strings.Cut(r.resource, "/")
		for _, verb := range r.verbs {
			review, err := c.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
					Group: r.group, Resource: resource, Subresource: subresource, Namespace: r.namespace, Name: r.name, Verb: verb,
				}},
			}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if review.Status.Allowed {
				continue
			}
			where := "in the whole cluster"
			if r.namespace != "" {
				where = "in namespace " + r.namespace
			}
			missing = append(missing, strings.TrimSuffix(fmt.Sprintf("%s %s.%s", verb, r.resource, r.group), ".")+" "+where)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("permissions are missing that a migration needs, all of which cluster-admin has:\n  %s", strings.Join(missing, "\n  "))
	}
	return nil
}
