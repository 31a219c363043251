package diagnosis

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Permission is what a server does with a resource. Subresources are part of its name.
type Permission struct {
	Group, Resource, Namespace, Name string
	Verbs                            []string
}

// writes are what the propagator does with a kind.
var writes = []string{"list", "watch", "create", "update", "delete"}

// APIServerPermissions are those without which hns-apiserver does not serve.
var APIServerPermissions = []Permission{
	{"", "configmaps", metav1.NamespaceSystem, "extension-apiserver-authentication", []string{"get", "list", "watch"}},
	{"authentication.k8s.io", "tokenreviews", "", "", []string{"create"}},
	{"authorization.k8s.io", "subjectaccessreviews", "", "", []string{"create"}},
	{"", "namespaces", "", "", []string{"get", "list", "watch"}},
	{rbacv1.GroupName, "clusterroles", "", "", []string{"list", "watch"}},
	{rbacv1.GroupName, "rolebindings", "", "", []string{"list", "watch"}},
	{"admissionregistration.k8s.io", "validatingadmissionpolicies", "", "", []string{"list", "watch"}},
	{"flowcontrol.apiserver.k8s.io", "flowschemas", "", "", []string{"list", "watch"}},
}

// PropagatorPermissions are those without which hns-propagator does not propagate.
var PropagatorPermissions = []Permission{
	{"", "namespaces", "", "", []string{"get", "list", "watch", "create", "patch", "delete"}},
	{rbacv1.GroupName, "roles", "", "", append([]string{"bind", "escalate"}, writes...)},
	{rbacv1.GroupName, "rolebindings", "", "", writes},
	{rbacv1.GroupName, "clusterroles", "", "", []string{"bind"}},
	{"", "resourcequotas", "", "", []string{"list", "watch", "create", "patch", "delete"}},
	{hnc.GroupName, "hierarchies", "", "", []string{"list", "watch", "create", "update"}},
	{hnc.GroupName, "subnamespaces", "", "", []string{"list", "watch", "update"}},
	{"coordination.k8s.io", "leases", hnc.SystemNamespace, "", []string{"create"}},
	{"coordination.k8s.io", "leases", hnc.SystemNamespace, hnc.PropagatorName, []string{"get", "update"}},
}

// KindPermissions returns those that hns-propagator needs for the kinds of a configuration.
func KindPermissions(configuration *v1beta1.HNCConfiguration) []Permission {
	var permissions []Permission
	for _, kind := range configuration.Spec.Resources {
		if kind.Mode != v1beta1.Ignore {
			permissions = append(permissions, Permission{kind.Group, kind.Resource, "", "", writes})
		}
	}
	return permissions
}

// Permissions reports which permissions of a server are missing, each as "VERB RESOURCE.GROUP": those that it always
// needs, and those for kinds.
func Permissions(server string, missing, kinds []string) []Finding {
	subject := "permissions of " + server
	var findings []Finding
	if len(missing) > 0 {
		findings = append(findings, Finding{Error, subject, "missing: " + strings.Join(missing, ", "),
			"apply the ClusterRoles and bindings of the manifests or the chart again"})
	}
	if len(kinds) > 0 {
		findings = append(findings, Finding{Warning, subject, "missing for configured kinds: " + strings.Join(kinds, ", "),
			"kubectl hns config set KIND MODE grants them; or remove the kind from the configuration"})
	}
	if len(findings) == 0 {
		findings = append(findings, ok(subject, "complete"))
	}
	return findings
}

// Aggregation reports whether a built-in ClusterRole contains the permissions on hierarchies, which users get by it.
func Aggregation(name string, rules []rbacv1.PolicyRule) Finding {
	subject := "clusterrole " + name
	for _, rule := range rules {
		if slices.Contains(rule.APIGroups, hnc.GroupName) {
			return ok(subject, "it contains permissions on %s", hnc.GroupName)
		}
	}
	return Finding{Warning, subject, "it contains no permissions on " + hnc.GroupName + ": its users cannot use hierarchies",
		"apply the ClusterRole hns-aggregate-to-" + name + " again, or grant the permissions by roles of your own"}
}
