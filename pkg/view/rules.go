package view

import (
	"errors"
	"fmt"
	"net/http"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
)

// rule says how a view serves a cluster-scoped kind.
type rule int

const (
	// refuse is the rule of all kinds that have no other: they are absent.
	refuse rule = iota
	// readOnly kinds are those of the cluster.
	readOnly
	// review kinds answer questions about what users may do in the view.
	review
	// own kinds are those that each view has for itself.
	own
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

// rules has the cluster-scoped kinds of a view. Classes and nodes are read by what deploys applications.
var rules = map[schema.GroupResource]rule{
	namespaces:                                own,
	rbacv1.Resource(rbac.ClusterRoles):        own,
	rbacv1.Resource(rbac.ClusterRoleBindings): own,
	definitions:                               own,

	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:      review,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: review,
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:     review,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:  review,

	{Group: "storage.k8s.io", Resource: "storageclasses"}:                 readOnly,
	{Group: "storage.k8s.io", Resource: "csidrivers"}:                     readOnly,
	{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}:        readOnly,
	{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshotclasses"}: readOnly,
	{Group: "networking.k8s.io", Resource: "ingressclasses"}:              readOnly,
	{Group: "gateway.networking.k8s.io", Resource: "gatewayclasses"}:      readOnly,
	{Group: "node.k8s.io", Resource: "runtimeclasses"}:                    readOnly,
	{Group: "resource.k8s.io", Resource: "deviceclasses"}:                 readOnly,
	{Group: "scheduling.k8s.io", Resource: "priorityclasses"}:             readOnly,
	{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}:       readOnly,
	{Resource: "nodes"}: readOnly,
}

var readVerbs = sets.New("get", "list", "watch")

// ruleOf returns the rule of a cluster-scoped kind.
func ruleOf(resource schema.GroupResource) rule { return rules[resource] }

// refusedGroup reports whether a group is not part of any view: views and lists across subtrees would show the same
// objects under other names.
func refusedGroup(group string) bool {
	return group == hnc.ResourcesGroupName || group == hnc.ViewGroupVersion.Group
}

// servedVerbs returns those verbs of a kind that a view serves, nil if it does not serve the kind.
func servedVerbs(resource schema.GroupResource, namespaced bool, verbs []string) []string {
	if refusedGroup(resource.Group) {
		return nil
	}
	if namespaced {
		return verbs
	}
	var except sets.Set[string]
	switch ruleOf(resource) {
	case refuse:
		return nil
	case readOnly:
		except = sets.New("create", "update", "patch", "delete", "deletecollection")
	case own:
		except = sets.New("deletecollection")
	}
	served := make([]string, 0, len(verbs))
	for _, verb := range verbs {
		if !except.Has(verb) {
			served = append(served, verb)
		}
	}
	return served
}

var errReadOnly = errors.New("a view shows it as the cluster has it, and only administrators of the cluster can change it")

// instead says what to do instead of writing a kind that views do not serve.
var instead = map[schema.GroupResource]string{
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}:   webhookInstead,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}:     webhookInstead,
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}:       policyInstead,
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"}: policyInstead,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"}:         policyInstead,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings"}:   policyInstead,
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}:                 "a view with relative names can have its own; otherwise, an administrator of the cluster installs it, and you use its custom resources; with Helm, leave it out with --skip-crds",
	{Group: "apiregistration.k8s.io", Resource: "apiservices"}:                             "an administrator of the cluster installs the API, and you use it",
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}:                 "its signers trust who may create it in the cluster; use ServiceAccounts and their tokens",
	{Resource: "persistentvolumes"}:                                                        "create a PersistentVolumeClaim with a storage class",
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}:                             "it would answer for the users of the whole cluster; check the issuer's signature, at /openid/v1/jwks",
}

const (
	webhookInstead = "it would get the objects of others, too; turn the webhook off in the chart, or ask an administrator of the cluster to install it for your namespaces"
	policyInstead  = "it would apply to others, too; use policies of namespaces, such as NetworkPolicies, quotas and LimitRanges, or ask an administrator of the cluster"
)

// refused is the response to a request for a kind that views do not serve.
func refused(resource schema.GroupResource) error {
	advice := instead[resource]
	if advice == "" {
		advice = "ask an administrator of the cluster"
	}
	return apierrors.NewForbidden(resource, "", fmt.Errorf("it applies to the whole cluster, and is not part of a view: %s", advice))
}

// noNamespace is the response to all requests for a namespace that the view does not have.
func noNamespace(name string) error { return apierrors.NewNotFound(namespaces, name) }

// notFound is the response to a request for a path that nothing serves.
func notFound(c *call) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource",
		Details: &metav1.StatusDetails{Group: c.info.APIGroup, Kind: c.info.Resource, Name: c.info.Name},
	}}
}

// methodNotAllowed is the response to a verb that a resource does not have.
func methodNotAllowed(c *call) error {
	return apierrors.NewMethodNotSupported(schema.GroupResource{Group: c.info.APIGroup, Resource: c.info.Resource}, c.info.Verb)
}
