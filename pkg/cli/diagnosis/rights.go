package diagnosis

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Right is what a server does with a resource. Subresources are part of its name.
type Right struct {
	Group, Resource, Namespace, Name string
	Verbs                            []string
}

// writes are what the propagator does with a kind.
var writes = []string{"list", "watch", "create", "update", "delete"}

// APIServerRights are those without which hns-apiserver does not serve.
var APIServerRights = []Right{
	{"", "configmaps", metav1.NamespaceSystem, "extension-apiserver-authentication", []string{"get", "list", "watch"}},
	{"authentication.k8s.io", "tokenreviews", "", "", []string{"create"}},
	{"authorization.k8s.io", "subjectaccessreviews", "", "", []string{"create"}},
	{"", "namespaces", "", "", []string{"get", "list", "watch"}},
	{rbacv1.GroupName, "clusterroles", "", "", []string{"list", "watch"}},
	{rbacv1.GroupName, "rolebindings", "", "", []string{"list", "watch"}},
	{"admissionregistration.k8s.io", "validatingadmissionpolicies", "", "", []string{"list", "watch"}},
	{"flowcontrol.apiserver.k8s.io", "flowschemas", "", "", []string{"list", "watch"}},
}

// PropagatorRights are those without which hns-propagator does not propagate.
var PropagatorRights = []Right{
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

// KindRights returns those that hns-propagator needs for the kinds of a configuration.
func KindRights(configuration *v1beta1.HNCConfiguration) []Right {
	var rights []Right
	for _, kind := range configuration.Spec.Resources {
		if kind.Mode != v1beta1.Ignore {
			rights = append(rights, Right{kind.Group, kind.Resource, "", "", writes})
		}
	}
	return rights
}

// Rights reports which rights of a server are missing, each as "VERB RESOURCE.GROUP": those that it always needs, and
// those for kinds.
func Rights(server string, missing, kinds []string) []Finding {
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

// Aggregation reports whether a built-in ClusterRole contains the rights on hierarchies, which users get by it.
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
