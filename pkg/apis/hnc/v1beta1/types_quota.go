package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchicalResourceQuota limits the resources that a subtree uses: a namespace and all its descendants. The
// propagator writes a ResourceQuota named hrq.hnc.x-k8s.io into each of these namespaces.
type HierarchicalResourceQuota struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec contains the limits.
	// +optional
	Spec HierarchicalResourceQuotaSpec `json:"spec,omitempty"`
	// status contains the limits that are in force, and the use. It is set by the propagator.
	// +optional
	Status HierarchicalResourceQuotaStatus `json:"status,omitempty"`
}

// HierarchicalResourceQuotaSpec contains the limits.
type HierarchicalResourceQuotaSpec struct {
	// hard contains the limit of each resource, as in a ResourceQuota. The resource
	// count/subnamespaces.hnc.x-k8s.io limits the number of namespaces below the namespace, at any depth.
	// +optional
	Hard hnc.ResourceList `json:"hard,omitempty"`
	// scopes restrict the quota to objects that match all of them, as in a ResourceQuota.
	// +optional
	// +listType=atomic
	Scopes []corev1.ResourceQuotaScope `json:"scopes,omitempty"`
	// scopeSelector restricts the quota to objects that match all of its expressions, as in a ResourceQuota.
	// +optional
	ScopeSelector *QuotaScopeSelector `json:"scopeSelector,omitempty"`
}

// QuotaScopeSelector selects the objects that a quota counts.
type QuotaScopeSelector struct {
	// matchExpressions is a list of requirements that are combined with AND.
	// +optional
	// +listType=atomic
	MatchExpressions []QuotaScopeRequirement `json:"matchExpressions,omitempty"`
}

// QuotaScopeRequirement is one requirement of a QuotaScopeSelector.
type QuotaScopeRequirement struct {
	// scopeName is the name of the scope.
	ScopeName corev1.ResourceQuotaScope `json:"scopeName"`
	// operator is In, NotIn, Exists or DoesNotExist.
	Operator corev1.ScopeSelectorOperator `json:"operator"`
	// values contains at least one value if the operator is In or NotIn, and is empty otherwise.
	// +optional
	// +listType=atomic
	Values []string `json:"values,omitempty"`
}

// HierarchicalResourceQuotaStatus contains the limits that are in force, and the use.
type HierarchicalResourceQuotaStatus struct {
	// observedGeneration is the generation of the spec that the status describes, and -1 until there is a status.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// hard contains the limits that are in force.
	// +optional
	Hard hnc.ResourceList `json:"hard,omitempty"`
	// used contains the use of the subtree.
	// +optional
	Used hnc.ResourceList `json:"used,omitempty"`
	// namespaces contains the use of each namespace that uses a limited resource, in the order of names. It contains at
	// most 250 namespaces and 96 KiB.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	Namespaces []NamespaceUse `json:"namespaces,omitempty"`
	// omittedNamespaces is the number of namespaces with use that are not in namespaces.
	// +optional
	OmittedNamespaces int32 `json:"omittedNamespaces,omitempty"`
	// conditions contains Ready, which is True while the limits hold in all namespaces of the subtree, and Exceeded, which
	// is True while the use exceeds a limit.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NamespaceUse is the part of a quota's use that is in one namespace.
type NamespaceUse struct {
	// namespace is the name of the namespace.
	Namespace string `json:"namespace"`
	// used contains the use of each limited resource.
	// +optional
	Used hnc.ResourceList `json:"used,omitempty"`
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
