package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TenantView is the hub type of v1alpha3 TenantView, which documents the fields. It shows a subtree as a cluster of its
// own.
type TenantView struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   TenantViewSpec
	Status TenantViewStatus
}

// TenantViewSpec is what a view shows, and with which names.
type TenantViewSpec struct {
	Names    ViewNames
	Prefix   string
	External []string

	CustomResources ViewCustomResources
	Projected       []ProjectedResource
}

// ProjectedResource is a cluster-scoped kind that a view shows as the cluster has it.
type ProjectedResource struct {
	Group    string
	Resource string
}

// ViewCustomResources bounds the CustomResourceDefinitions that a view has for itself.
type ViewCustomResources struct {
	Limit int32
}

// ViewNames are the names of the namespaces in a view.
type ViewNames string

// Kinds of names.
const (
	NamesReal     ViewNames = "Real"
	NamesRelative ViewNames = "Relative"
)

// TenantViewStatus is what a view shows, and where.
type TenantViewStatus struct {
	ObservedGeneration int64
	Server             string
	Members            int32
	Shadowed           []string
	Conditions         []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TenantViewList is a list of TenantViews.
type TenantViewList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []TenantView
}

// Names of the grant that a TenantView gives hns-gateway, and reasons of its condition Ready.
const (
	// ViewGrant is the name of the RoleBinding in the namespace of a TenantView, and of its copies.
	ViewGrant = "hns-view"
	// ViewGrantRole is the ClusterRole that it binds: acting as the caller of a request.
	ViewGrantRole = "hns-gateway:view"

	// ReasonNotGranted says that the namespace does not have the grant yet.
	ReasonNotGranted = "NotGranted"
	// ReasonGatewayUnavailable says that hns-gateway is not installed, or not available.
	ReasonGatewayUnavailable = "GatewayUnavailable"
	// ReasonNamesShadowed says that some namespaces are not shown, because others have their names in the view.
	ReasonNamesShadowed = "NamesShadowed"
	// ReasonNotInHierarchy says that the namespace is excluded from hierarchies.
	ReasonNotInHierarchy = "NotInHierarchy"

	// ConditionNamesUnique reports whether a view shows all namespaces of its subtree.
	ConditionNamesUnique = "NamesUnique"
)
