package hnc

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// quotaResources are the resources of ResourceQuotas whose names have no prefix. They are counted in integers if the
// value is true.
var quotaResources = map[corev1.ResourceName]bool{
	corev1.ResourceCPU:                      false,
	corev1.ResourceMemory:                   false,
	corev1.ResourceEphemeralStorage:         false,
	corev1.ResourceRequestsCPU:              false,
	corev1.ResourceRequestsMemory:           false,
	corev1.ResourceRequestsEphemeralStorage: false,
	corev1.ResourceRequestsStorage:          false,
	corev1.ResourceLimitsCPU:                false,
	corev1.ResourceLimitsMemory:             false,
	corev1.ResourceLimitsEphemeralStorage:   false,
	corev1.ResourcePods:                     true,
	corev1.ResourceQuotas:                   true,
	corev1.ResourceServices:                 true,
	corev1.ResourceReplicationControllers:   true,
	corev1.ResourceSecrets:                  true,
	corev1.ResourceConfigMaps:               true,
	corev1.ResourcePersistentVolumeClaims:   true,
	corev1.ResourceServicesNodePorts:        true,
	corev1.ResourceServicesLoadBalancers:    true,
}

// IsQuotaResource reports whether ResourceQuotas know a resource by a name of their own.
func IsQuotaResource(name corev1.ResourceName) bool {
	_, known := quotaResources[name]
	return known || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// CountableAs reports whether kube-apiserver accepts a quantity as the limit of a resource in a ResourceQuota. One that
// it rejects would keep the limits of all other quotas out of the same ResourceQuota.
func CountableAs(name corev1.ResourceName, q resource.Quantity) bool {
	if !Countable(q) || !isInteger(name) {
		return Countable(q)
	}
	// kube-apiserver decodes what is stored. MilliValue of a large number depends on how it is written: it is 0 for
	// 123456789012345678e1, but not for the same number without an exponent, which replaces it in storage.
	stored, err := resource.ParseQuantity(q.String())
	return err == nil && stored.MilliValue()%1000 == 0
}

// isInteger reports whether the resource is counted in integers: the number of objects, and extended resources, but not
// the requests of extended resources.
func isInteger(name corev1.ResourceName) bool {
	if integer, known := quotaResources[name]; known {
		return integer
	}
	s := string(name)
	native := !strings.Contains(s, "/") || strings.Contains(s, corev1.ResourceDefaultNamespacePrefix)
	return !native && !strings.HasPrefix(s, corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+s)) == 0
}
