package diagnosis

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// GatewayNeeds are the permissions without which hns-gateway does not serve. In the subtrees of TenantViews it has more.
var GatewayNeeds = []Permission{
	{"authentication.k8s.io", "tokenreviews", "", "", []string{"create"}},
	{"authorization.k8s.io", "subjectaccessreviews", "", "", []string{"create"}},
	{"authentication.k8s.io", "users", "", "", []string{"impersonate:user-info"}},
	{"", "namespaces", "", "", []string{"get", "list", "watch"}},
	{hnc.GroupName, "tenantviews", "", "", []string{"list", "watch"}},
}

// NoGateway reports how many TenantViews nothing serves, if there are any.
func NoGateway(views int) []Finding {
	if views == 0 {
		return nil
	}
	return []Finding{{Warning, "tenantviews", fmt.Sprintf("%d TenantViews cannot be used: %s is not installed", views, hnc.GatewayName),
		"install it, or delete them: see docs/views.md"}}
}

// GatewayPermissions reports the permissions that hns-gateway lacks, and those that it must not have.
func GatewayPermissions(missing, excessive []string) Finding {
	subject := "permissions of " + hnc.GatewayName
	switch {
	case len(excessive) > 0:
		return Finding{Error, subject, "it could act as anybody everywhere, and serves nothing: " + strings.Join(excessive, ", "),
			"remove the binding that allows this to the ServiceAccount " + hnc.GatewayName + " of " + hnc.SystemNamespace}
	case len(missing) > 0:
		return Finding{Error, subject, "missing: " + strings.Join(missing, ", "), "apply its ClusterRoles and bindings of the manifests or the chart again"}
	}
	return ok(subject, "complete, and none too many")
}

// Views reports the TenantViews that cannot be used.
func Views(views []v1alpha3.TenantView) Finding {
	const subject = "tenantviews"
	var reasons []string
	for i := range views {
		if ready := meta.FindStatusCondition(views[i].Status.Conditions, hnc.ConditionReady); ready == nil || ready.Status != "True" {
			reason := "its status is not known yet"
			if ready != nil {
				reason = ready.Message
			}
			reasons = append(reasons, views[i].Namespace+": "+reason)
		}
	}
	return some(subject, reasons, len(views), "can be used", "cannot be used", "kubectl get tenantviews -A")
}

// ViewDefinitionsSubject is the subject of ViewDefinitions.
const ViewDefinitionsSubject = "customresourcedefinitions of views"

// ViewDefinitions reports CustomResourceDefinitions of views whose namespace does not exist, or was created again or
// restored with another UID: nobody but administrators of the cluster can use their custom resources, and nothing
// deletes them.
func ViewDefinitions(definitions, namespaces []metav1.PartialObjectMetadata) []Finding {
	suffixes := map[string]string{}
	for i := range namespaces {
		suffixes[namespaces[i].Name] = hnc.ViewGroupSuffix(namespaces[i].Name, namespaces[i].UID)
	}
	var findings []Finding
	for i := range definitions {
		name, root := definitions[i].Name, definitions[i].Labels[hnc.LabelViewRoot]
		if suffix := suffixes[root]; suffix == "" || !strings.HasSuffix(name, "."+suffix) {
			findings = append(findings, Finding{Warning, "customresourcedefinition " + name, fmt.Sprintf("it is of an earlier namespace %q, whose view does not have it", root),
				fmt.Sprintf("save its objects, if they are needed: kubectl get %[1]s -A -o yaml; then kubectl delete crd %[1]s, which deletes them", name)})
		}
	}
	if len(definitions) > 0 && len(findings) == 0 {
		findings = append(findings, ok(ViewDefinitionsSubject, "%d, all of namespaces that exist", len(definitions)))
	}
	return findings
}
