package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Top-level directories of a repository. Source: docs/spec/config-sync.md 1.
const (
	SystemDir          = "system"
	ClusterDir         = "cluster"
	ClusterRegistryDir = "clusterregistry"
	NamespacesDir      = "namespaces"
)

// TopDirs are the directories that are read.
var TopDirs = []string{SystemDir, ClusterDir, ClusterRegistryDir, NamespacesDir}

// Groups of the kinds that describe a repository.
const (
	ConfigManagementGroup = "configmanagement.gke.io"
	ConfigSyncGroup       = "configsync.gke.io"
)

// Kinds that are special in a repository.
var (
	Namespace         = schema.GroupKind{Kind: "Namespace"}
	Repo              = schema.GroupKind{Group: ConfigManagementGroup, Kind: "Repo"}
	HierarchyConfig   = schema.GroupKind{Group: ConfigManagementGroup, Kind: "HierarchyConfig"}
	NamespaceSelector = schema.GroupKind{Group: ConfigManagementGroup, Kind: "NamespaceSelector"}
	ClusterSelector   = schema.GroupKind{Group: ConfigManagementGroup, Kind: "ClusterSelector"}
	Sync              = schema.GroupKind{Group: ConfigManagementGroup, Kind: "Sync"}
	Cluster           = schema.GroupKind{Group: "clusterregistry.k8s.io", Kind: "Cluster"}
	CRD               = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// Annotations that a repository may use. Source: docs/spec/config-sync.md 1, 4 and 5.
const (
	AnnotationNamespaceSelector   = ConfigManagementGroup + "/namespace-selector"
	AnnotationClusterSelector     = ConfigManagementGroup + "/cluster-selector"
	AnnotationClusterNameSelector = ConfigSyncGroup + "/cluster-name-selector"
	AnnotationManaged             = ConfigManagementGroup + "/managed"
	AnnotationDeletionPropagation = ConfigSyncGroup + "/deletion-propagation-policy"
	AnnotationLocalConfig         = "config.kubernetes.io/local-config"
	AnnotationDeletion            = "client.lifecycle.config.k8s.io/deletion"
	AnnotationMutation            = "client.lifecycle.config.k8s.io/mutation"

	// ManagedDisabled is the only value of AnnotationManaged that a repository may set.
	ManagedDisabled = "disabled"
	// DeletionDetach is the value of AnnotationDeletion that keeps an object in the cluster when it leaves the
	// repository.
	DeletionDetach = "detach"
	// MutationIgnore is the value of AnnotationMutation with which an object is never updated.
	MutationIgnore = "ignore"
)

// IsReserved reports whether a label or an annotation has a prefix that only the sync may use.
func IsReserved(key string) bool {
	return strings.HasPrefix(key, ConfigManagementGroup+"/") || strings.HasPrefix(key, ConfigSyncGroup+"/")
}
