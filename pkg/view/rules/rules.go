// Package rules says how views serve cluster-scoped kinds.
package rules

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Rule says how a view serves a cluster-scoped kind.
type Rule int

const (
	// Refuse is the rule of all kinds that have no other: they are absent.
	Refuse Rule = iota
	// ReadOnly kinds are those of the cluster.
	ReadOnly
	// Review kinds answer questions about what users may do in the view.
	Review
	// Own kinds are those that each view has for itself.
	Own
)

// rules has the cluster-scoped kinds of a view. Classes and nodes are read by what deploys applications.
var rules = map[schema.GroupResource]Rule{
	{Resource: "namespaces"}:               Own,
	rbacv1.Resource("clusterroles"):        Own,
	rbacv1.Resource("clusterrolebindings"): Own,
	hnc.CRDResource.GroupResource():        Own,

	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:      Review,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: Review,
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:     Review,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:  Review,

	{Group: "storage.k8s.io", Resource: "storageclasses"}:                 ReadOnly,
	{Group: "storage.k8s.io", Resource: "csidrivers"}:                     ReadOnly,
	{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}:        ReadOnly,
	{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshotclasses"}: ReadOnly,
	{Group: "networking.k8s.io", Resource: "ingressclasses"}:              ReadOnly,
	{Group: "gateway.networking.k8s.io", Resource: "gatewayclasses"}:      ReadOnly,
	{Group: "node.k8s.io", Resource: "runtimeclasses"}:                    ReadOnly,
	{Group: "resource.k8s.io", Resource: "deviceclasses"}:                 ReadOnly,
	{Group: "scheduling.k8s.io", Resource: "priorityclasses"}:             ReadOnly,
	{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}:       ReadOnly,
	{Resource: "nodes"}: ReadOnly,
}

// Of returns the rule of a cluster-scoped kind.
func Of(resource schema.GroupResource) Rule { return rules[resource] }

// RefusedGroup reports whether a group is not part of any view: views and lists across subtrees would show the same
// objects under other names.
func RefusedGroup(group string) bool {
	return group == hnc.ResourcesGroupName || group == hnc.ViewGroupVersion.Group
}

var persistentVolumes = schema.GroupResource{Resource: "persistentvolumes"}

// NotProjected returns why spec.projected of a TenantView cannot contain a kind, "" if it can.
func NotProjected(resource schema.GroupResource) string {
	switch rule := Of(resource); {
	case resource.Group == hnc.GroupName, strings.HasSuffix(resource.Group, "."+hnc.GroupName):
		return "kinds of " + hnc.GroupName + " and its subdomains show what is outside of the view"
	case rule == Own:
		return "each view has its own"
	case rule == Review:
		return "views answer reviews themselves"
	case instead[resource] != "" && resource != persistentVolumes:
		return "it determines what kube-apiserver trusts and runs for all tenants"
	}
	return ""
}

// instead says what to do instead of writing a kind that views do not serve.
var instead = map[schema.GroupResource]string{
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}:   webhookInstead,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}:     webhookInstead,
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}:       policyInstead,
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"}: policyInstead,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"}:         policyInstead,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings"}:   policyInstead,
	hnc.CRDResource.GroupResource():                                        "a view with relative names can have its own; otherwise, an administrator of the cluster installs it, and you use its custom resources; with Helm, leave it out with --skip-crds",
	hnc.APIServiceResource.GroupResource():                                 "an administrator of the cluster installs the API, and you use it",
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: "its signers trust who may create it in the cluster; use ServiceAccounts and their tokens",
	persistentVolumes: "create a PersistentVolumeClaim with a storage class",
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}: "it would answer for the users of the whole cluster; check the issuer's signature, at /openid/v1/jwks",
}

const (
	webhookInstead = "it would get the objects of others, too; turn the webhook off in the chart, or ask an administrator of the cluster to install it for your namespaces"
	policyInstead  = "it would apply to others, too; use policies of namespaces, such as NetworkPolicies, quotas and LimitRanges, or ask an administrator of the cluster"
)

// Instead returns what to do instead of writing a kind that views do not serve.
func Instead(resource schema.GroupResource) string {
	if advice := instead[resource]; advice != "" {
		return advice
	}
	return "ask an administrator of the cluster"
}
