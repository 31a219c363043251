package report

import "strings"

// Code identifies a condition. KNV codes are those of Config Sync, each for the same condition as there
// (docs/spec/config-sync.md 6). Conditions that Config Sync does not have are words.
//
// The comment of a code is its row in docs/reference/repository-errors.md: what it means, and the fix.
type Code string

// Codes of Config Sync.
const (
	// IllegalSubdirectory: a namespace directory has subdirectories with objects
	// Fix: move the Namespace or the subdirectory
	IllegalSubdirectory Code = "KNV1003"
	// IllegalSelector: a cluster selector on a Cluster, ClusterSelector or NamespaceSelector, or a namespace selector
	// on a cluster-scoped object Fix: remove the annotation
	IllegalSelector Code = "KNV1004"
	// IllegalManaged: the annotation `configmanagement.gke.io/managed` has a value other than `disabled`
	// Fix: correct or remove it
	IllegalManaged Code = "KNV1005"
	// Unparsable: an object cannot be parsed into its type
	// Fix: correct the field that the message names
	Unparsable Code = "KNV1006"
	// IllegalKindInAbstract: an abstract directory contains a kind with the mode `none`
	// Fix: move the object to a namespace directory
	IllegalKindInAbstract Code = "KNV1007"
	// NamespaceNotDirectory: `metadata.namespace` is not the name of the directory
	// Fix: correct or remove it
	NamespaceNotDirectory Code = "KNV1009"
	// ReservedAnnotation: an annotation begins with `configmanagement.gke.io/` or `configsync.gke.io/`
	// Fix: remove it
	ReservedAnnotation Code = "KNV1010"
	// ReservedLabel: the same for a label
	// Fix: remove it
	ReservedLabel Code = "KNV1011"
	// UnknownSelector: an annotation names a selector that does not exist, or that is not in the directory or above it
	// Fix: declare the selector, or move it up
	UnknownSelector Code = "KNV1013"
	// InvalidSelector: a selector is empty or invalid, or its mode is not `static`
	// Fix: correct it
	InvalidSelector Code = "KNV1014"
	// MissingRepo: there is no Repo object
	// Fix: `kubectl hns repo init --force`
	MissingRepo Code = "KNV1017"
	// IllegalTopLevelNamespace: a Namespace is directly in `namespaces/`
	// Fix: give it a directory
	IllegalTopLevelNamespace Code = "KNV1019"
	// NamespaceNameNotDirectory: a Namespace does not have the name of its directory
	// Fix: rename one of them
	NamespaceNameNotDirectory Code = "KNV1020"
	// UnknownKind: the cluster does not know a kind; other objects are not affected
	// Fix: install the kind, or add its CustomResourceDefinition
	UnknownKind Code = "KNV1021"
	// UnsupportedRepoVersion: the Repo's `spec.version` is not supported
	// Fix: set it to `1.0.0`
	UnsupportedRepoVersion Code = "KNV1027"
	// NameCollision: two objects of a kind have the same name in a namespace or in the cluster, by inheritance or
	// directly; or two selectors have the same name
	// Fix: rename or remove one
	NameCollision Code = "KNV1029"
	// MissingName: `metadata.name` is empty
	// Fix: set it
	MissingName Code = "KNV1031"
	// ControllerNamespace: a Namespace of Config Sync itself
	// Fix: remove it
	ControllerNamespace Code = "KNV1034"
	// InvalidName: a name is not valid
	// Fix: use lowercase letters, digits, `-` and `.`
	InvalidName Code = "KNV1036"
	// SelectorInNamespace: a NamespaceSelector is in a namespace directory
	// Fix: move it up
	SelectorInNamespace Code = "KNV1038"
	// IllegalTopLevelDirectory: an object is in an unsuitable top-level directory
	// Fix: move it; see [layout](../repositories.md#layout)
	IllegalTopLevelDirectory Code = "KNV1039"
	// UnsupportedInherited: a HierarchyConfig lists Namespace, a kind of `configmanagement.gke.io`, or no kinds
	// Fix: correct the entry
	UnsupportedInherited Code = "KNV1041"
	// IllegalHierarchyMode: a HierarchyConfig has a mode other than `none` and `inherit`
	// Fix: correct the entry
	IllegalHierarchyMode Code = "KNV1042"
	// UnsupportedObject: a Sync object, or a CustomResourceDefinition of a reserved group
	// Fix: remove it
	UnsupportedObject Code = "KNV1043"
	// UnsyncableDirectory: an abstract directory contains objects and has no Namespace below it
	// Fix: add a Namespace, or remove the objects
	UnsyncableDirectory Code = "KNV1044"
	// IllegalField: a field is set that only a cluster sets, or `status`
	// Fix: remove it
	IllegalField Code = "KNV1045"
	// ClusterScopedInherited: a HierarchyConfig lists a kind of which the repository has objects in `cluster/`
	// Fix: remove it from the list
	ClusterScopedInherited Code = "KNV1046"
	// RemovedCRD: a CustomResourceDefinition was removed, and objects of its kind remain
	// Fix: remove them too
	RemovedCRD Code = "KNV1047"
	// InvalidCRDName: a CustomResourceDefinition is not named `<plural>.<group>`
	// Fix: rename it
	InvalidCRDName Code = "KNV1048"
	// DeprecatedKind: a kind of the group `extensions`
	// Fix: use its present group
	DeprecatedKind Code = "KNV1050"
	// IllegalNamespace: a cluster-scoped object has `metadata.namespace`
	// Fix: remove it
	IllegalNamespace Code = "KNV1052"
	// NamespaceAndSelector: an object has a namespace and a namespace selector; a namespace directory counts as a
	// namespace
	// Fix: remove one, or move the object up
	NamespaceAndSelector Code = "KNV1053"
	// InvalidMetadataValue: a label or annotation is not a string
	// Fix: put the value in quotes: `yes`, `on` and `y` are booleans in YAML
	InvalidMetadataValue Code = "KNV1054"
	// InvalidNamespace: the name of a namespace is not a DNS label
	// Fix: use lowercase letters, digits and `-`
	InvalidNamespace Code = "KNV1055"
	// ManagedInUnmanaged: an object is managed, but its Namespace has `configmanagement.gke.io/managed: disabled`
	// Fix: annotate the object too
	ManagedInUnmanaged Code = "KNV1056"
	// TreeLabel: a tree label is set
	// Fix: remove it
	TreeLabel Code = "KNV1057"
	// InvalidKindsFile: `api-resources.txt` cannot be read
	// Fix: write it again
	InvalidKindsFile Code = "KNV1064"
	// MalformedCRD: a CustomResourceDefinition is malformed
	// Fix: correct it
	MalformedCRD Code = "KNV1065"
	// ConflictingSelectors: an object has both annotations that select clusters
	// Fix: remove one
	ConflictingSelectors Code = "KNV1066"
	// TooManyObjects: a cluster has more objects than `--threshold`
	// Fix: split the repository
	TooManyObjects Code = "KNV1070"
	// UnreadableFile: a file cannot be read or parsed
	// Fix: correct it
	UnreadableFile Code = "KNV2001"
	// UnreadableSource: the repository cannot be read
	// Fix: correct what the message names
	UnreadableSource Code = "KNV2004"
	// EmptyRepository: a revision has no Namespace where the one before it has two or more
	// Fix: remove them in several revisions
	EmptyRepository Code = "KNV2006"
	// MissingIdentity: an object has no `apiVersion`, `kind` or `metadata.name`
	// Fix: set it
	MissingIdentity Code = "KNV2010"
	// MultipleSingletons: there are two Repo objects, or two Namespaces in a directory
	// Fix: remove one
	MultipleSingletons Code = "KNV2012"
)

// Codes of Config Sync for objects that cannot be written to a cluster.
const (
	// ManagementConflict: the object in the cluster belongs to another
	// [RepositorySync](../repositories.md#what-is-written)
	// Fix: remove it from one of the two repositories
	ManagementConflict Code = "KNV1060"
	// ControllerFight: another client changes an object of a [RepositorySync](../repositories.md#what-is-written) again
	// and again
	// Fix: find it in `metadata.managedFields`, or remove the object from the repository
	ControllerFight Code = "KNV2005"
	// ApplyError: the API server does not accept an object
	// Fix: correct the field that the message names
	ApplyError Code = "KNV2009"
	// InsufficientPermission: the account of a RepositorySync may not write an object
	// Fix: grant the account the permission that the message names, or remove the object
	InsufficientPermission Code = "KNV2013"
	// TransientError: the API server cannot answer at present
	// Fix: none: it is tried again
	TransientError Code = "KNV2016"
)

// Codes of our own.
const (
	// LimitExceeded: the repository exceeds a [limit](limits.md#repositories)
	// Fix: split the file or the repository, or change what the message names
	LimitExceeded Code = "LimitExceeded"
	// LinkedDirectory: a symbolic link to a directory
	// Fix: replace the link with the directory
	LinkedDirectory Code = "LinkedDirectory"
	// Kustomization: there is a `kustomization.yaml` at the root
	// Fix: render it first, or remove it
	Kustomization Code = "Kustomization"
	// InvalidDirectory: the name of an abstract directory is not a DNS label, so it cannot be part of a tree label
	// Fix: rename it
	InvalidDirectory Code = "InvalidDirectory"
	// ReservedDirectory: an abstract directory has the name of a namespace that is excluded from hierarchies, such as
	// `kube-system`
	// Fix: rename it
	ReservedDirectory Code = "ReservedDirectory"
	// ExcludedNamespace: warning: a namespace that is excluded from hierarchies, such as `kube-system`, is below an
	// abstract directory. `apply` and `diff` reject it
	// Fix: move its directory to `namespaces/`
	ExcludedNamespace Code = "ExcludedNamespace"
	// ReservedMetadata: an object has a label or annotation that only the servers write, such as
	// `hnc.x-k8s.io/inherited-from`
	// Fix: remove it
	ReservedMetadata Code = "ReservedMetadata"
	// MassDeletion: a revision removes more than half of the namespaces
	// Fix: allow it, or remove them in several revisions
	MassDeletion Code = "MassDeletion"
	// SharedName: warning: an abstract directory has the name of a namespace, so one tree label stands for both
	// Fix: rename it, or `--allow-shared-names`; in a RepositorySync `allowSharedNames`
	SharedName Code = "SharedName"
	// SelectorPrefix: warning: a NamespaceSelector in `eng` is used in `eng-2`. Config Sync accepts that by mistake
	// Fix: move the selector up
	SelectorPrefix Code = "SelectorPrefix"
)

// helpPage explains each code, under an anchor with its name.
const helpPage = "https://github.com/hierarchy-apiserver/hierarchy-apiserver/blob/main/docs/reference/repository-errors.md#"

// HelpURL returns the address of the explanation.
func (c Code) HelpURL() string { return helpPage + strings.ToLower(string(c)) }

// Blocking reports whether errors of this code prevent the next stage. See Applicable for the others.
func (c Code) Blocking() bool {
	switch c {
	case UnknownKind, SharedName, ExcludedNamespace, SelectorPrefix:
		return false
	}
	return true
}

// Applicable reports whether a repository with this warning can be applied to a cluster. It can be printed in any case.
func (c Code) Applicable() bool { return c != SharedName && c != ExcludedNamespace }
