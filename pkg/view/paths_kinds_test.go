package view

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var farFuture = time.Now().Add(1000 * time.Hour)

var someKinds = func() map[schema.GroupVersionResource]kind {
	known := map[schema.GroupVersionResource]kind{}
	add := func(group, version, resource, k string, namespaced bool) {
		known[schema.GroupVersionResource{Group: group, Version: version, Resource: resource}] = kind{schema.GroupVersionKind{Group: group, Version: version, Kind: k}, namespaced}
	}
	add("", "v1", "pods", "Pod", true)
	add("", "v1", "pods/exec", "PodExecOptions", true)
	add("", "v1", "pods/proxy", "PodProxyOptions", true)
	add("", "v1", "pods/status", "Pod", true)
	add("", "v1", "secrets", "Secret", true)
	add("", "v1", "nodes", "Node", false)
	add("", "v1", "persistentvolumes", "PersistentVolume", false)
	add("", "v1", "namespaces", "Namespace", false)
	add("storage.k8s.io", "v1", "storageclasses", "StorageClass", false)
	add("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false)
	add("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false)
	add("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false)
	add("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false)
	add("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false)
	add("rbac.authorization.k8s.io", "v1", "roles", "Role", true)
	add("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true)
	add("hnc.x-k8s.io", "v1beta1", "subnamespaces", "Subnamespace", true)
	add("hnc.x-k8s.io", "v1beta1", "hierarchies", "Hierarchy", true)
	add("hnc.x-k8s.io", "v1beta1", "mynamespaces", "MyNamespace", false)
	return known
}()
