package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchicalResourceQuota limits the resources that a subtree uses: a namespace and all its descendants.
type HierarchicalResourceQuota struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec contains the limits.
	// +optional
	Spec HierarchicalResourceQuotaSpec `json:"spec,omitempty"`
	// status contains the limits that are in force, and the use.
	// +optional
	Status HierarchicalResourceQuotaStatus `json:"status,omitempty"`
}

// HierarchicalResourceQuotaSpec contains the limits.
type HierarchicalResourceQuotaSpec struct {
	// hard contains the limit of each resource, as in a ResourceQuota.
	// +optional
	Hard hnc.ResourceList `json:"hard,omitempty"`
}

// HierarchicalResourceQuotaStatus contains the limits that are in force, and the use.
type HierarchicalResourceQuotaStatus struct {
	// hard contains the limits that are in force.
	// +optional
	Hard hnc.ResourceList `json:"hard,omitempty"`
	// used contains the use of the subtree.
	// +optional
	Used hnc.ResourceList `json:"used,omitempty"`
	// requestsSummary lists used and hard of all resources but limits, for example "pods: 1/3, secrets: 0/6".
	// +optional
	RequestsSummary string `json:"requestsSummary,omitempty"`
	// limitsSummary lists used and hard of the resources whose names begin with "limits.".
	// +optional
	LimitsSummary string `json:"limitsSummary,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchicalResourceQuotaList is a list of HierarchicalResourceQuotas.
type HierarchicalResourceQuotaList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of HierarchicalResourceQuotas.
	Items []HierarchicalResourceQuota `json:"items"`
}
