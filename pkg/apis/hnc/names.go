package hnc

import "strings"

// Singleton is the only name that a Hierarchy may have: there is one per namespace.
const Singleton = "hierarchy"

// ConfigurationName is the only name that an HNCConfiguration may have.
const ConfigurationName = "config"

// SystemNamespace is where the servers run, and where their ServiceAccounts live.
const SystemNamespace = "hnc-system"

// PropagatorUser is the user name of the one privileged writer.
const PropagatorUser = "system:serviceaccount:" + SystemNamespace + ":hnc-propagator"

// LabelAggregateToPropagator is the label of ClusterRoles that are aggregated into the propagator's, with the value "true".
const LabelAggregateToPropagator = "rbac.hnc.x-k8s.io/aggregate-to-propagator"

// PropagatorVerbs returns what the propagator must be allowed to do with objects of a kind that it propagates.
func PropagatorVerbs() []string {
	return []string{"get", "list", "watch", "create", "update", "delete"}
}

// Labels and annotations that the hierarchy writes. Source: spec/hnc.md 0.2; those marked "projected" are facts about
// a namespace that admission policies need and that only the propagator writes.
const (
	// LabelInheritedFrom marks a copy; its value is the namespace of the source.
	LabelInheritedFrom = "hnc.x-k8s.io/inherited-from"
	// LabelManagedBy is set to GroupName on copies.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelIncludedNamespace is "true" on namespaces that can be part of a hierarchy.
	LabelIncludedNamespace = "hnc.x-k8s.io/included-namespace"
	// LabelTreeSuffix ends the tree labels: <ancestor>.tree.hnc.x-k8s.io/depth holds the distance to that ancestor.
	LabelTreeSuffix = ".tree.hnc.x-k8s.io/depth"
	// LabelInTree is projected: "true" on a namespace that has, or is about to have, a parent or children.
	LabelInTree = "hnc.x-k8s.io/in-tree"
	// LabelHasSubnamespaces is projected: "true" while at least one sub-namespace is directly below.
	LabelHasSubnamespaces = "hnc.x-k8s.io/has-subnamespaces"
	// LabelCascadingDeletion is projected: CascadingAllowed while the namespace or an ancestor allows cascading deletion.
	LabelCascadingDeletion = "hnc.x-k8s.io/cascading-deletion"
	// CascadingAllowed is the value of LabelCascadingDeletion.
	CascadingAllowed = "allowed"
	// LabelOrphaned is projected: "true" on a sub-namespace whose Subnamespace record is missing.
	LabelOrphaned = "hnc.x-k8s.io/orphaned"

	// AnnotationSubnamespaceOf makes a namespace a sub-namespace of the namespace that it names.
	AnnotationSubnamespaceOf = "hnc.x-k8s.io/subnamespace-of"
	// AnnotationManagedBy names who manages an external namespace: anything but "" and GroupName.
	AnnotationManagedBy = "hnc.x-k8s.io/managed-by"

	// AnnotationAncestry holds, on a namespace, its name and those of its ancestors up to the root, joined by dots.
	AnnotationAncestry = "hnc.x-k8s.io/ancestry"
	// AnnotationRequester names, on a Subnamespace, the user who created it. Only the server writes it.
	AnnotationRequester = "hnc.x-k8s.io/requester"
	// AnnotationCreatorPending holds, on a new sub-namespace, the UID of the Subnamespace whose requester has yet to get the creator's
	// role there.
	AnnotationCreatorPending = "hnc.x-k8s.io/creator-pending"
	// AnnotationVoid is "true" on a Subnamespace whose namespace was converted to a full one: it has no effect any more. Only the propagator
	// writes it, and nobody removes it.
	AnnotationVoid = "hnc.x-k8s.io/void"
	// AnnotationRequired is "true" on a Subnamespace that was created because its parent requires it.
	AnnotationRequired = "hnc.x-k8s.io/required"
	// AnnotationInheritedPodSecurity records, on a sub-namespace, the Pod Security labels that it has inherited from its parent. Only the
	// propagator writes it.
	AnnotationInheritedPodSecurity = "hnc.x-k8s.io/inherited-pod-security"
	// AnnotationStore holds, on SystemNamespace, the UID of the configuration: it tells a new store of hierarchies, which has another one.
	AnnotationStore = "hnc.x-k8s.io/store"
	// AnnotationOverride, "true" on an object, keeps it although an ancestor has a source of its name, if that source allows it by
	// AnnotationAllowOverride.
	AnnotationOverride = "hnc.x-k8s.io/override"
	// AnnotationAllowOverride, "true" on a source, allows that objects below override it.
	AnnotationAllowOverride = "propagate.hnc.x-k8s.io/allowOverride"

	// AnnotationSelect, AnnotationTreeSelect, AnnotationNone and AnnotationAll say to which namespaces a source is propagated.
	AnnotationSelect     = "propagate.hnc.x-k8s.io/select"
	AnnotationTreeSelect = "propagate.hnc.x-k8s.io/treeSelect"
	AnnotationNone       = "propagate.hnc.x-k8s.io/none"
	AnnotationAll        = "propagate.hnc.x-k8s.io/all"

	// FinalizerSubnamespace holds a Subnamespace until its namespace is gone.
	FinalizerSubnamespace = "hnc.x-k8s.io/subnamespace"
)

// ExcludedNamespaces can never be part of a hierarchy.
var ExcludedNamespaces = []string{"kube-system", "kube-public", "kube-node-lease", SystemNamespace}

// TreeLabel returns the key of the label that holds a namespace's distance to ancestor.
func TreeLabel(ancestor string) string { return ancestor + LabelTreeSuffix }

// TreeLabelAncestor returns the ancestor that a tree label's key names; ok is false for any other key.
func TreeLabelAncestor(key string) (ancestor string, ok bool) {
	return strings.CutSuffix(key, LabelTreeSuffix)
}

// Conditions. ConditionReady sums up the others in v1beta1. Source of the reasons: spec/hnc.md 3.4.
const (
	ConditionReady            = "Ready"
	ConditionActivitiesHalted = "ActivitiesHalted"
	ConditionBadConfiguration = "BadConfiguration"

	ReasonReady                    = "Ready"
	ReasonInCycle                  = "InCycle"
	ReasonParentMissing            = "ParentMissing"
	ReasonIllegalParent            = "IllegalParent"
	ReasonAncestorHalted           = "AncestorHaltActivities"
	ReasonSubnamespaceMissing      = "SubnamespaceAnchorMissing"
	ReasonIllegalManagedLabel      = "IllegalManagedLabel"
	ReasonIllegalManagedAnnotation = "IllegalManagedAnnotation"
	// ReasonDeletingCRD is HNC's alone: our API is no CRD. Its metric is 0.
	ReasonDeletingCRD = "DeletingCRD"
	// The following are not HNC's.
	ReasonManagedLabelConflict      = "ManagedLabelConflict"
	ReasonManagedAnnotationConflict = "ManagedAnnotationConflict"
	ReasonExternalNamespace         = "ExternalNamespace"
	ReasonNamespaceExcluded         = "NamespaceExcluded"
	ReasonNamespaceConflict         = "NamespaceConflict"
	ReasonNamespaceConverted        = "NamespaceConverted"
	ReasonNamespaceForbidden        = "NamespaceForbidden"
	ReasonNamespaceTerminating      = "NamespaceTerminating"
	ReasonPropagationFailed         = "PropagationFailed"
	ReasonRequiredChildRefused      = "RequiredChildRefused"
	ReasonFinalizersRemain          = "SomeFinalizersRemain"
)

// Conditions of a Subnamespace besides Ready.
const (
	// ConditionRequired tells whether the parent requires a Subnamespace that was created because it did.
	ConditionRequired = "Required"

	ReasonRequired    = "RequiredByParent"
	ReasonNotRequired = "NotRequired"
)

// Conditions of the configuration. Source of the reasons: spec/hnc.md 3.12.
const (
	ConditionOutOfSync = "OutOfSync"
	// ConditionNamespace tells which namespaces have conditions; its reason is the type of those.
	ConditionNamespace = "NamespaceCondition"
	// NamespaceConditionSeparator is between what its message tells of one reason of those and of the next.
	NamespaceConditionSeparator = "; "

	ReasonResourceNotFound        = "ResourceNotFound"
	ReasonResourceNotNamespaced   = "ResourceNotNamespaced"
	ReasonResourceNotPropagatable = "ResourceNotPropagatable"
	ReasonMultipleConfigurations  = "MultipleConfigurationsForType"
	ReasonUnknown                 = "Unknown"
	ReasonPending                 = "Pending"
	ReasonRulesDiffer             = "RulesDiffer"
)

// Event reasons. Source: spec/hnc.md 3.7.
const (
	EventCannotPropagate = "CannotPropagateObject"
	EventCannotUpdate    = "CannotUpdateObject"
	EventCannotParse     = "CannotParseSelector"
	EventOverwritten     = "ObjectOverwritten"
	EventKept            = "ObjectKept"
)

// PodSecurityLabels are the labels of a namespace that say which pods it admits, for good or with a warning.
var PodSecurityLabels = []string{
	"pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/enforce-version",
	"pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/audit-version",
	"pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/warn-version",
}
