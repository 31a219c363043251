package hnc

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchicalResourceQuota is the hub type of v1beta1 HierarchicalResourceQuota, which documents the fields. It limits
// the use of a subtree: of a namespace and all its descendants.
type HierarchicalResourceQuota struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HierarchicalResourceQuotaSpec
	Status HierarchicalResourceQuotaStatus
}

// HierarchicalResourceQuotaSpec contains the limits.
type HierarchicalResourceQuotaSpec struct {
	Hard          corev1.ResourceList
	Scopes        []corev1.ResourceQuotaScope
	ScopeSelector *QuotaScopeSelector
}

// QuotaScopeSelector selects the objects that a quota counts.
type QuotaScopeSelector struct {
	MatchExpressions []QuotaScopeRequirement
}

// QuotaScopeRequirement is one requirement of a QuotaScopeSelector.
type QuotaScopeRequirement struct {
	ScopeName corev1.ResourceQuotaScope
	Operator  corev1.ScopeSelectorOperator
	Values    []string
}

// HierarchicalResourceQuotaStatus contains the limits that are in force, and the use.
type HierarchicalResourceQuotaStatus struct {
	ObservedGeneration int64
	Hard               corev1.ResourceList
	Used               corev1.ResourceList
	Namespaces         []NamespaceUse
	OmittedNamespaces  int32
	Conditions         []metav1.Condition
}

// NamespaceUse is the part of a quota's use that is in one namespace.
type NamespaceUse struct {
	Namespace string
	Used      corev1.ResourceList
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchicalResourceQuotaList is a list of HierarchicalResourceQuotas.
type HierarchicalResourceQuotaList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []HierarchicalResourceQuota
}

// ResourceSubnamespaces is the resource name under which a HierarchicalResourceQuota limits the number of
// namespaces below its namespace, whatever made them its descendants.
const ResourceSubnamespaces corev1.ResourceName = "count/subnamespaces." + GroupName

// ResourceQuotaName is the name of the ResourceQuota without scopes that the propagator writes into every namespace
// below a HierarchicalResourceQuota. Those with scopes have names that begin with it, a dot following.
const (
	ResourceQuotaName = "hrq." + GroupName
	// LabelQuota is on ResourceQuotas that enforce a hierarchical quota.
	LabelQuota = GroupName + "/hrq"
)

// QuotaWebhookName is the name of the ValidatingWebhookConfiguration, and of its webhook, by which our API server
// reserves use before it is recorded.
const QuotaWebhookName = "hierarchicalresourcequotas." + GroupName

// QuotaProbeWebhookName is the name of the webhook in the same configuration that rejects dry runs of the creation of a
// ResourceQuota with the name QuotaProbeName. So the rejection proves that kube-apiserver applies the configuration.
const (
	QuotaProbeWebhookName = "in-force." + QuotaWebhookName
	QuotaProbeName        = ResourceQuotaName + ".in-force"
	// CauseQuotaProbe is the cause of that rejection.
	CauseQuotaProbe metav1.CauseType = "QuotasInForce"
)

// EventCannotWriteQuota is the reason of events about quotas that cannot be enforced in a namespace. Source:
// docs/spec/hnc.md 3.13.
const EventCannotWriteQuota = ReasonQuotaWriteFailed

// Conditions of a HierarchicalResourceQuota besides Ready, which is True while the limits hold in all namespaces of the
// subtree, and their reasons.
const (
	// ConditionQuotaExceeded is True while the use exceeds a limit, because it did before the limit was set or moved
	// into the subtree.
	ConditionQuotaExceeded = "Exceeded"

	// ReasonQuotaReserved means that the limits are in force, by reservations.
	ReasonQuotaReserved = "Reserved"
	// ReasonQuotaEventual means that the limits are in force, with a delay.
	ReasonQuotaEventual = "Eventual"
	// ReasonQuotaWriteFailed means that a ResourceQuota cannot be written; the message says why.
	ReasonQuotaWriteFailed = "CannotWriteResourceQuota"
	// ReasonQuotaTooLarge means that the quota does not fit into the ResourceQuotas of its subtree.
	ReasonQuotaTooLarge = "TooLarge"
	// ReasonQuotaLimitsIgnored means that some of the limits are not in force.
	ReasonQuotaLimitsIgnored = "LimitsIgnored"
	// ReasonQuotaOverLimit means that the use exceeds a limit, as after it was lowered.
	ReasonQuotaOverLimit = "OverLimit"
	// ReasonQuotaWithinLimit means that the use does not exceed the limits.
	ReasonQuotaWithinLimit = "WithinLimit"
)

// MessageQuotaWebhookPending is the message of Ready with ReasonPending while nothing but the webhook that reserves use
// is missing. Doctor recognizes it.
const MessageQuotaWebhookPending = "kube-apiserver does not call the webhook that reserves use yet"
