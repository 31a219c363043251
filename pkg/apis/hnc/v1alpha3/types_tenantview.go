package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TenantView shows its namespace and the descendants of that as a cluster of their own, to everybody with the
// permission on its subresource proxy in view.hnc.x-k8s.io. Requests through it have the permissions of their senders,
// and no others. Its only name is "view". Creating it, and changing its spec, requires permission to do so in all
// namespaces, because it lets hns-gateway act as its callers in the subtree.
type TenantView struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the view shows, and with which names.
	// +optional
	Spec TenantViewSpec `json:"spec,omitempty"`
	// status is what the view shows, and where. It is set by the propagator.
	// +optional
	Status TenantViewStatus `json:"status,omitempty"`
}

// TenantViewSpec is what a view shows, and with which names.
type TenantViewSpec struct {
	// names says whether namespaces have their names in the cluster (Real), or names without a prefix (Relative). With
	// Relative, the namespace of the view is called "default".
	// +optional
	// +default="Relative"
	Names ViewNames `json:"names,omitempty"`
	// prefix is what is cut from the names of namespaces, by default the name of the view's namespace and "-".
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// external are namespaces outside the view that objects may refer to by their names in the cluster, by default
	// kube-system. References to other namespaces outside the view have the suffix ".external".
	// +optional
	// +listType=set
	External []string `json:"external,omitempty"`
	// customResources bounds the CustomResourceDefinitions that the view has for itself.
	// +optional
	CustomResources ViewCustomResources `json:"customResources,omitempty"`
	// projected are cluster-scoped kinds that the view shows read-only, besides nodes and classes, to users who may read
	// them in the cluster: at most 32. hns-gateway must be allowed to act as its callers when they read them. Namespaced
	// kinds are always part of views: naming one changes nothing.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	// +k8s:validation:maxItems=32
	Projected []ProjectedResource `json:"projected,omitempty"`
}

// ProjectedResource is a cluster-scoped kind that a view shows as the cluster has it.
type ProjectedResource struct {
	// group is the API group of the resource. Empty means the core group.
	// +optional
	// +default=""
	Group string `json:"group,omitempty"`
	// resource is the plural name of the resource.
	Resource string `json:"resource"`
}

// ViewCustomResources bounds the CustomResourceDefinitions that a view has for itself.
type ViewCustomResources struct {
	// limit is how many CustomResourceDefinitions the users of the view can create in it: by default none, and at most
	// 100. Each costs kube-apiserver memory and a new OpenAPI document. Lowering it deletes none. kube-apiserver does not
	// bound what the custom resources of one may cost: more than 0 is for users whom you trust with its availability.
	// +optional
	Limit int32 `json:"limit,omitempty"`
}

// ViewNames are the names of the namespaces in a view.
// +enum
type ViewNames string

const (
	// NamesReal are the names in the cluster.
	NamesReal ViewNames = "Real"
	// NamesRelative are names without the prefix of the view.
	NamesRelative ViewNames = "Relative"
)

// TenantViewStatus is what a view shows, and where.
type TenantViewStatus struct {
	// observedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// server is the path of the view at kube-apiserver. Together with the address of kube-apiserver, it is the server of
	// a kubeconfig for the view.
	// +optional
	Server string `json:"server,omitempty"`
	// members is the number of namespaces in the view.
	// +optional
	Members int32 `json:"members,omitempty"`
	// shadowed are namespaces of the subtree that the view does not show, because another one has their name in it: at
	// most the first 100.
	// +optional
	// +listType=set
	Shadowed []string `json:"shadowed,omitempty"`
	// conditions contains Ready, which is True if the view can be used, and NamesUnique, which is False if it does not
	// show all namespaces of the subtree.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TenantViewList is a list of TenantViews.
type TenantViewList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of TenantViews.
	Items []TenantView `json:"items"`
}
