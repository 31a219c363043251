package hnc

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ViewDefinition is the hub type of v1alpha3 ViewDefinition, which documents the fields. It is a
// CustomResourceDefinition of the view of its namespace.
type ViewDefinition struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   runtime.RawExtension
	Status ViewDefinitionStatus
}

// ViewDefinitionStatus is the status of the CustomResourceDefinition in the cluster.
type ViewDefinitionStatus struct {
	ObservedGeneration int64
	Conditions         []metav1.Condition
	AcceptedNames      ViewDefinitionNames
	StoredVersions     []string
}

// ViewDefinitionNames are the names of a kind.
type ViewDefinitionNames struct {
	Plural     string
	Singular   string
	ShortNames []string
	Kind       string
	ListKind   string
	Categories []string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ViewDefinitionList is a list of ViewDefinitions.
type ViewDefinitionList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []ViewDefinition
}

const (
	// ViewGroupsSuffix ends the groups of the CustomResourceDefinitions of views, and of no others.
	ViewGroupsSuffix = ".views.hnc.x-k8s.io"
	// uidLength is how much of the UID of a root is part of the groups of its view: a namespace of the same name that
	// is created later has others.
	uidLength = 5

	// CustomResources is the name in the view of the Role and the RoleBinding that let the creators of ViewDefinitions
	// use the custom resources.
	CustomResources = "custom-resources"
	// MaxViewDefinitions is the largest limit of a TenantView.
	MaxViewDefinitions = 100
	// MaxViewDefinitionBytes is the size of the specs of a namespace. kube-apiserver needs several times as much
	// memory.
	MaxViewDefinitionBytes = 4 << 20
)

// Reasons of the condition Ready of a ViewDefinition.
const (
	// ReasonLimitReached means that the TenantView of the namespace allows no more CustomResourceDefinitions.
	ReasonLimitReached = "LimitReached"
	// ReasonDefinitionRefused means that the CustomResourceDefinition cannot be written or deleted; the message says
	// why.
	ReasonDefinitionRefused = "DefinitionRefused"
	// ReasonNotEstablished means that kube-apiserver does not serve the custom resources yet.
	ReasonNotEstablished = "NotEstablished"
	// ReasonDefinitionDeleting means that the CustomResourceDefinition is being deleted with its custom resources.
	ReasonDefinitionDeleting = "DefinitionDeleting"
)

// ViewGroupSuffix returns what the groups of the custom resources of a view end with in the cluster, without the dot
// before it; "" if the UID of the root is not known.
func ViewGroupSuffix(root string, uid types.UID) string {
	if len(uid) < uidLength {
		return ""
	}
	return root + "-" + string(uid[:uidLength]) + ViewGroupsSuffix
}

// ViewShortNames returns the short names and categories of a view's own resources in the cluster, by the suffix of
// their groups. kubectl finds resources by them in all groups.
func ViewShortNames(names []string, groupSuffix string) []string {
	var inCluster []string
	for _, name := range names {
		inCluster = append(inCluster, name+shortNameSuffix(groupSuffix))
	}
	return inCluster
}

// ShownShortNames is the inverse of ViewShortNames.
func ShownShortNames(names []string, groupSuffix string) []string {
	var shown []string
	for _, name := range names {
		shown = append(shown, strings.TrimSuffix(name, shortNameSuffix(groupSuffix)))
	}
	return shown
}

// shortNameSuffix returns the beginning of the UID in the suffix of groups, and the dash before it: a short name has at
// most 63 characters.
func shortNameSuffix(groupSuffix string) string {
	root := strings.TrimSuffix(groupSuffix, ViewGroupsSuffix)
	return root[max(strings.LastIndex(root, "-"), 0):]
}

// IsViewGroup reports whether a group of the cluster is that of a view, whichever it is.
func IsViewGroup(group string) bool { return strings.HasSuffix(group, ViewGroupsSuffix) }

// ViewRoleName returns the name of the Role or RoleBinding of the root for a ClusterRole or ClusterRoleBinding of its
// view.
func ViewRoleName(root, name string) string { return ViewRolePrefix(root) + name }

// ViewRolePrefix returns the prefix of these names. They contain that of the root, so that views of a namespace and of
// its descendants have their own.
func ViewRolePrefix(root string) string { return "view:" + root + ":" }
