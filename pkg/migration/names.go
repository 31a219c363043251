package migration

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// version is the only version of HNC's objects.
const version = "v1alpha2"

// Resources of HNC. A definition is named like its resource and group.
const (
	hierarchyConfigurations = "hierarchyconfigurations"
	anchors                 = "subnamespaceanchors"
	configurations          = "hncconfigurations"
	quotas                  = "hierarchicalresourcequotas"
)

// hncKinds are the resources by their kinds.
var hncKinds = map[string]string{"HNCConfiguration": configurations, "HierarchyConfiguration": hierarchyConfigurations, "SubnamespaceAnchor": anchors, "HierarchicalResourceQuota": quotas}

// hncResources are the resources of HNC. The definition of hierarchies is deleted last: while it exists, hns-propagator
// waits.
var hncResources = []string{quotas, configurations, anchors, hierarchyConfigurations}

// finalizers are those that HNC sets, and removes no more.
var finalizers = []string{"hnc.x-k8s.io", "hnc.x-k8s.io/hasSubnamespace"}

// The webhook configurations of HNC.
const (
	validatingWebhooks = "hnc-validating-webhook-configuration"
	mutatingWebhooks   = "hnc-mutating-webhook-configuration"
)

// controllers are HNC's Deployments that write or have webhooks, and deployments all of them. They are in its
// namespace.
var (
	controllers = []string{"hnc-controller-manager", "hnc-controller-manager-ha"}
	deployments = append(slices.Clone(controllers), listDeployment)
)

// listDeployment is that of HNC's server of lists.
const listDeployment = "hnc-resourcelist-apiextension"

// APIServices.
const (
	currentService = "v1beta1.hnc.x-k8s.io"
	hncService     = version + ".hnc.x-k8s.io"
	listService    = version + ".resources.hnc.x-k8s.io"

	// listServer is the Service that HNC serves listService with.
	listServer = "hnc-resourcelist"
)

// fieldManager is the name under which the migration writes.
const fieldManager = "kubectl-hns-migrate"

var (
	validatingResource = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}
	mutatingResource   = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"}
)

// keyOf names an object in messages and comparisons; namespace is empty for an object of the whole cluster.
func keyOf(resource, namespace, name string) string {
	if namespace == "" {
		return resource + " " + name
	}
	return resource + " " + namespace + "/" + name
}

// configurationKey names HNC's configuration.
var configurationKey = keyOf(configurations, "", hnc.ConfigurationName)

// hierarchyOf names the hierarchy of a namespace in HNC.
func hierarchyOf(namespace string) string {
	return keyOf(hierarchyConfigurations, namespace, hnc.Singleton)
}

// hncResource returns a resource of HNC.
func hncResource(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: hnc.GroupName, Version: version, Resource: resource}
}
