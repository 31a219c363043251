package hnc

import (
	"slices"
	"strconv"
	"strings"
)

// Singleton is the only valid name of a Hierarchy: there is one per namespace.
const Singleton = "hierarchy"

// ConfigurationName is the only valid name of an HNCConfiguration.
const ConfigurationName = "config"

// SystemNamespace is the namespace of the servers and their ServiceAccounts.
const SystemNamespace = "hns-system"

// RepositoriesNamespace contains the accounts and credentials of RepositorySyncs.
const RepositoriesNamespace = "hns-repositories"

// Names of the servers, and of their Deployments, Services, ServiceAccounts and leases in SystemNamespace.
const (
	APIServerName  = "hns-apiserver"
	PropagatorName = "hns-propagator"
	SyncName       = "hns-sync"
	GatewayName    = "hns-gateway"
)

// PropagatorUser is the user name of the propagator, the only privileged writer.
const PropagatorUser = "system:serviceaccount:" + SystemNamespace + ":" + PropagatorName

// NamespaceControllerUser is the user name of the controller in Kubernetes that empties namespaces that are deleted.
const NamespaceControllerUser = "system:serviceaccount:kube-system:namespace-controller"

// LabelAggregateToPropagator marks ClusterRoles that are aggregated into the propagator's, with the value "true".
const LabelAggregateToPropagator = "rbac.hnc.x-k8s.io/aggregate-to-propagator"

// LabelAutoManaged tells how kube-apiserver manages an APIService: "true" or "onstart" if it serves the version itself.
const LabelAutoManaged = "kube-aggregator.kubernetes.io/automanaged"

// PropagatorVerbs returns the verbs that the propagator needs for a propagated kind.
func PropagatorVerbs() []string {
	return []string{"get", "list", "watch", "create", "update", "delete"}
}

// Labels and annotations of hierarchies. Source: docs/spec/hnc.md 0.2. Those marked "projected" are facts for admission
// policies that only the propagator writes.
const (
	// LabelInheritedFrom marks a copy; its value is the namespace of the source.
	LabelInheritedFrom = "hnc.x-k8s.io/inherited-from"
	// LabelManagedBy is set to GroupName on copies.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelPartOf is set to hns on the objects of an installation.
	LabelPartOf = "app.kubernetes.io/part-of"
	// PartOf is the value of LabelPartOf.
	PartOf = "hns"
	// SelectorPartOf selects the objects of an installation.
	SelectorPartOf = LabelPartOf + "=" + PartOf
	// LabelIncludedNamespace is "true" on namespaces that may be part of a hierarchy.
	LabelIncludedNamespace = "hnc.x-k8s.io/included-namespace"
	// LabelTreeSuffix is the suffix of tree labels: <ancestor>.tree.hnc.x-k8s.io/depth holds the distance to that
	// ancestor.
	LabelTreeSuffix = ".tree.hnc.x-k8s.io/depth"
	// LabelInTree is projected: "true" on a namespace that has, or is about to have, a parent or children.
	LabelInTree = "hnc.x-k8s.io/in-tree"
	// LabelHasSubnamespaces is projected: "true" while at least one child is a sub-namespace.
	LabelHasSubnamespaces = "hnc.x-k8s.io/has-subnamespaces"
	// LabelCascadingDeletion is projected: CascadingAllowed while the namespace or an ancestor allows cascading
	// deletion.
	LabelCascadingDeletion = "hnc.x-k8s.io/cascading-deletion"
	// CascadingAllowed is the value of LabelCascadingDeletion.
	CascadingAllowed = "allowed"
	// LabelOrphaned is projected: "true" on a sub-namespace without a Subnamespace.
	LabelOrphaned = "hnc.x-k8s.io/orphaned"

	// AnnotationSubnamespaceOf marks a sub-namespace; its value is the parent.
	AnnotationSubnamespaceOf = "hnc.x-k8s.io/subnamespace-of"
	// AnnotationManagedBy names the manager of an external namespace: any value except "" and GroupName.
	AnnotationManagedBy = "hnc.x-k8s.io/managed-by"

	// AnnotationAncestry holds the names of a namespace and its ancestors up to the root, joined by dots.
	AnnotationAncestry = "hnc.x-k8s.io/ancestry"
	// AnnotationAbstractAncestors holds the names of the ancestors of a namespace that are not namespaces, and for
	// which it has tree labels, the nearest first, joined by dots. Only the propagator writes it.
	AnnotationAbstractAncestors = "hnc.x-k8s.io/abstract-ancestors"
	// AnnotationAllowSharedNames with the value "true" on a Hierarchy allows abstract ancestors with the names of
	// existing namespaces.
	AnnotationAllowSharedNames = "hnc.x-k8s.io/allow-shared-names"
	// AnnotationExceedQuotas with the value "true" on a Hierarchy makes its parent be set even if that exceeds
	// hierarchical quotas. It applies to users allowed to update these quotas, and to the request that sets it: it is
	// not stored.
	AnnotationExceedQuotas = "hnc.x-k8s.io/exceed-quotas"
	// AnnotationRestoring with the value "true" on a Hierarchy says that the propagator restores the parent that the
	// tree labels name. It applies to the request that sets it: it is not stored.
	AnnotationRestoring = "hnc.x-k8s.io/restoring"
	// AnnotationRequester names the user who created a Subnamespace. Only the server writes it.
	AnnotationRequester = "hnc.x-k8s.io/requester"
	// AnnotationRequesterGroups names the groups of the user who created a ViewDefinition, in JSON. Only the server
	// writes it.
	AnnotationRequesterGroups = "hnc.x-k8s.io/requester-groups"
	// AnnotationSourceUID holds, on a CopyRelease, the UID that the namespace of the source had when the release was
	// authorized; there is none if the namespace did not exist. Only the server writes it.
	AnnotationSourceUID = "hnc.x-k8s.io/source-uid"
	// AnnotationCreatorPending holds, on a new sub-namespace, the UID of the Subnamespace whose requester does not
	// have the creator's role there yet.
	AnnotationCreatorPending = "hnc.x-k8s.io/creator-pending"
	// AnnotationLimitsPending holds, on a new sub-namespace below a hierarchical quota, the UID of its Subnamespace
	// until the limits are in force there. Until then, Roles and RoleBindings are withheld.
	AnnotationLimitsPending = "hnc.x-k8s.io/limits-pending"
	// AnnotationVoid is "true" on a Subnamespace whose namespace was converted to a full namespace, was created as
	// another one, or was gone when hierarchies were restored: it has no effect any more. Only the propagator writes
	// it, and it is never removed.
	AnnotationVoid = "hnc.x-k8s.io/void"
	// AnnotationRequired is "true" on a Subnamespace that was created because its parent requires it.
	AnnotationRequired = "hnc.x-k8s.io/required"
	// AnnotationInheritedPodSecurity records, on a sub-namespace, the Pod Security labels that it inherited from its
	// parent. Only the propagator writes it.
	AnnotationInheritedPodSecurity = "hnc.x-k8s.io/inherited-pod-security"
	// AnnotationStore holds, on SystemNamespace, the UID of the configuration. A new store of hierarchies has another
	// UID.
	AnnotationStore = "hnc.x-k8s.io/store"
	// AnnotationCheckpoint holds, on SystemNamespace, the ID of the last checkpoint. While a new one is being recorded,
	// it holds the new ID and the one before, separated by a space; 0 if there was none.
	AnnotationCheckpoint = "hnc.x-k8s.io/checkpoint"
	// AnnotationTrust on SystemNamespace ends a pause of the propagation: its value, of HNCConfiguration.TrustDecision,
	// says what is right. The propagator removes it.
	AnnotationTrust = "hnc.x-k8s.io/trust"
	// AnnotationOverride, "true" on a local object, keeps it instead of a copy if the source has
	// AnnotationAllowOverride.
	AnnotationOverride = "hnc.x-k8s.io/override"
	// AnnotationViewRules is on Roles that are ClusterRoles of a view: the rules of the ClusterRole, in JSON, if the
	// Role cannot have all of them.
	AnnotationViewRules = "hnc.x-k8s.io/view-rules"
	// LabelViewRoot is on the CustomResourceDefinitions of views: the namespace of the view.
	LabelViewRoot = "hnc.x-k8s.io/view-root"
	// AnnotationViewDefinition is on them, too: which spec of which ViewDefinition they have.
	AnnotationViewDefinition = "hnc.x-k8s.io/view-definition"
	// AnnotationAllowOverride, "true" on a source, allows objects in descendants to override its copies.
	AnnotationAllowOverride = "propagate.hnc.x-k8s.io/allowOverride"

	// AnnotationSelect limits the descendants to which a source is propagated to those whose labels match a selector.
	AnnotationSelect = "propagate.hnc.x-k8s.io/select"
	// AnnotationTreeSelect limits the descendants to which a source is propagated to the subtrees of the named
	// namespaces, or excludes those with `!`.
	AnnotationTreeSelect = "propagate.hnc.x-k8s.io/treeSelect"
	// AnnotationNone with the value "true" keeps a source from being propagated.
	AnnotationNone = "propagate.hnc.x-k8s.io/none"
	// AnnotationAll with the value "true" has a source propagated where its kind is by request only.
	AnnotationAll = "propagate.hnc.x-k8s.io/all"

	// FinalizerSubnamespaces keeps a Namespace until the last of its sub-namespaces is gone.
	FinalizerSubnamespaces = "hnc.x-k8s.io/subnamespaces"

	// FinalizerViewDefinition keeps a ViewDefinition until its CustomResourceDefinition and the custom resources are
	// gone.
	FinalizerViewDefinition = "hnc.x-k8s.io/view-definition"

	// FinalizerSubnamespace keeps a Subnamespace until its namespace is deleted.
	FinalizerSubnamespace = "hnc.x-k8s.io/subnamespace"
)

// Arguments of HNCConfiguration.TrustDecision: what is right where the hierarchies and the labels of the namespaces
// differ.
const (
	TrustHierarchies = "hierarchies"
	TrustNamespaces  = "namespaces"
)

// HNCNamespace is the namespace of HNC.
const HNCNamespace = "hnc-system"

// ExcludedNamespaces are never part of a hierarchy.
var ExcludedNamespaces = []string{"kube-system", "kube-public", "kube-node-lease", HNCNamespace, SystemNamespace}

// IsVoid reports whether a Subnamespace with these annotations has no effect any more.
func IsVoid(annotations map[string]string) bool { return annotations[AnnotationVoid] == "true" }

// TreeLabel returns the key of the label that holds a namespace's distance to ancestor.
func TreeLabel(ancestor string) string { return ancestor + LabelTreeSuffix }

// TreeLabels returns the tree labels of a namespace, given its name and those of its ancestors, the abstract ones last:
// the distance to each name. Of two with the same name, the nearer counts.
func TreeLabels(path []string) map[string]string {
	labels := make(map[string]string, len(path))
	for distance, name := range slices.Backward(path) {
		labels[TreeLabel(name)] = strconv.Itoa(distance)
	}
	return labels
}

// TreeLabelAncestor returns the ancestor in a tree label's key; ok is false for any other key.
func TreeLabelAncestor(key string) (ancestor string, ok bool) {
	return strings.CutSuffix(key, LabelTreeSuffix)
}

// Conditions. In v1beta1, ConditionReady summarizes the others. Source of the reasons: docs/spec/hnc.md 3.4.
const (
	// ConditionReady summarizes all conditions of the object.
	ConditionReady = "Ready"
	// ConditionActivitiesHalted is true while nothing is written in the namespace, because it or an ancestor has no
	// valid parent.
	ConditionActivitiesHalted = "ActivitiesHalted"
	// ConditionBadConfiguration is true while something in the object has no effect.
	ConditionBadConfiguration = "BadConfiguration"

	// ReasonReady means that the object is valid and in force.
	ReasonReady = "Ready"
	// ReasonMultipleProblems means that the condition counts several problems, which `status.problems` lists.
	ReasonMultipleProblems = "MultipleProblems"
	// ReasonInCycle means that the namespace is its own ancestor, which only imported data can bring about. Change a
	// parent in the cycle.
	ReasonInCycle = "InCycle"
	// ReasonParentMissing means that the parent does not exist. Create it, or choose another.
	ReasonParentMissing = "ParentMissing"
	// ReasonIllegalParent means that the parent cannot be part of a tree. Choose another.
	ReasonIllegalParent = "IllegalParent"
	// ReasonAncestorHalted means that one of these problems applies to an ancestor, which the message names. Fix
	// it there.
	ReasonAncestorHalted = "AncestorHaltActivities"
	// ReasonSubnamespaceMissing means that the namespace is annotated as a sub-namespace, but its parent has no
	// Subnamespace of its name. Create that, or remove the annotation: with it, the namespace is deleted along with its
	// parent.
	ReasonSubnamespaceMissing = "SubnamespaceAnchorMissing"
	// ReasonIllegalManagedLabel means that a requested label is not managed. Remove it, or have it managed.
	ReasonIllegalManagedLabel = "IllegalManagedLabel"
	// ReasonIllegalManagedAnnotation means that a requested annotation is not managed. Remove it, or have it managed.
	ReasonIllegalManagedAnnotation = "IllegalManagedAnnotation"
	// ReasonDeletingCRD exists in HNC only: this API is not a CRD. Its metric is 0.
	ReasonDeletingCRD = "DeletingCRD"

	// Those from here on do not exist in HNC.

	// ReasonManagedLabelConflict means that an ancestor sets another value of a label, which wins. Remove
	// the lower one.
	ReasonManagedLabelConflict = "ManagedLabelConflict"
	// ReasonManagedAnnotationConflict means that an ancestor sets another value of an annotation, which
	// wins. Remove the lower one.
	ReasonManagedAnnotationConflict = "ManagedAnnotationConflict"
	// ReasonExternalNamespace means that the namespace is managed externally, so it has no abstract ancestors.
	// Remove these, or its annotation AnnotationManagedBy.
	ReasonExternalNamespace = "ExternalNamespace"
	// ReasonAbstractNameConflict means that a namespace with the name of an abstract ancestor exists. Remove
	// one of the two, or set AnnotationAllowSharedNames to "true" on the Hierarchy.
	ReasonAbstractNameConflict = "AbstractNameConflict"
	// ReasonNamespaceExcluded means that the namespace cannot be part of a tree. Delete the object, or have the namespace
	// included.
	ReasonNamespaceExcluded = "NamespaceExcluded"
	// ReasonNamespaceConflict means that another namespace or Subnamespace has the name, or that the namespace names
	// another parent. Follow the message.
	ReasonNamespaceConflict = "NamespaceConflict"
	// ReasonNamespaceConverted means that the namespace became a full namespace, was created as another one, or was
	// gone when hierarchies were restored. The Subnamespace has no effect. Delete it.
	ReasonNamespaceConverted = "NamespaceConverted"
	// ReasonNamespaceForbidden means that the namespace or its parent cannot be part of a tree. Delete the
	// Subnamespace.
	ReasonNamespaceForbidden = "NamespaceForbidden"
	// ReasonNamespaceTerminating means that the namespace or an ancestor is being deleted, and that the namespace is
	// created afterward. To prevent that, delete the Subnamespace.
	ReasonNamespaceTerminating = "NamespaceTerminating"
	// ReasonPropagationFailed means that an inherited object, which the message names, cannot be written. Fix the
	// problem with that object.
	ReasonPropagationFailed = "PropagationFailed"
	// ReasonLimitsPending means that Roles and RoleBindings are withheld from a new sub-namespace, because limits are
	// not in force there yet. Wait until they are.
	ReasonLimitsPending = "LimitsPending"
	// ReasonNamespaceMissing means that the namespace was deleted, and is created again. To prevent that,
	// delete the Subnamespace.
	ReasonNamespaceMissing = "NamespaceMissing"
	// ReasonRequiredChildRefused means that a required child cannot be created; the message says which one and why.
	ReasonRequiredChildRefused = "RequiredChildRefused"
	// ReasonFinalizersRemain means that copies that no longer apply are kept, and in effect, by finalizers.
	// Remove the finalizers from the copies that the message names.
	ReasonFinalizersRemain = "SomeFinalizersRemain"
	// ReasonNamesTooLong means that objects with names of more than 253 bytes are not propagated. Create them
	// under shorter names.
	ReasonNamesTooLong = "SomeNamesTooLong"
	// ReasonMetadataTooLarge means that hierarchies set more labels or annotations than a namespace can have; the
	// message names those that are left out. Remove some.
	ReasonMetadataTooLarge = "MetadataTooLarge"
	// ReasonNamespaceNotWritten means that labels or annotations of the namespace could not be written, for
	// example because it has too many; see the message.
	ReasonNamespaceNotWritten = "NamespaceNotWritten"
)

// A condition of the configuration. Its reasons say what was restored.
const (
	// ConditionPropagationPaused is true while nothing is propagated because the store and the cluster appear to come
	// from different backups.
	ConditionPropagationPaused = "PropagationPaused"

	// ReasonHierarchiesOlder means that the hierarchies are of an earlier time than the cluster.
	ReasonHierarchiesOlder = "HierarchiesOlder"
	// ReasonClusterOlder means that the cluster is of an earlier time than the hierarchies.
	ReasonClusterOlder = "ClusterOlder"
	// ReasonOtherHierarchies means that other hierarchies than these were propagated in the cluster.
	ReasonOtherHierarchies = "OtherHierarchies"
	// ReasonHierarchiesMissing means that namespaces have the tree labels of a parent, and no hierarchies were ever
	// propagated here, as after the deletion of the system namespace with the volume of the hierarchies.
	ReasonHierarchiesMissing = "HierarchiesMissing"
	// ReasonHierarchiesLost means that the hierarchies were lost, and rebuilt from the labels of the namespaces.
	ReasonHierarchiesLost = "HierarchiesLost"
	// ReasonOtherCluster means that the hierarchies were propagated in another cluster.
	ReasonOtherCluster = "OtherCluster"
)

// A condition of Namespaces.
const (
	// ConditionSubnamespacesRemain is true while a Namespace is being deleted, has no content any more, and waits for
	// its sub-namespaces.
	ConditionSubnamespacesRemain = "hnc.x-k8s.io/SubnamespacesRemain"

	// ReasonSubnamespacesRemain means that sub-namespaces, which the message names, are still being deleted.
	ReasonSubnamespacesRemain = "SubnamespacesRemain"
	// ReasonSubnamespacesGone means that no sub-namespace is left.
	ReasonSubnamespacesGone = "SubnamespacesGone"
)

// Conditions of a Subnamespace besides Ready.
const (
	// ConditionRequired reports whether the parent still requires a Subnamespace that was created because it did.
	ConditionRequired = "Required"

	// ReasonRequired means that the parent requires the Subnamespace.
	ReasonRequired = "RequiredByParent"
	// ReasonNotRequired means that the parent does not require the Subnamespace any more, so it can be deleted.
	ReasonNotRequired = "NotRequired"
)

// Conditions of the configuration. Source of the reasons: docs/spec/hnc.md 3.12.
const (
	// ConditionOutOfSync is true while an object differs from what it should be.
	ConditionOutOfSync = "OutOfSync"
	// ConditionNamespace reports the namespaces with conditions of one type, which is its reason.
	ConditionNamespace = "NamespaceCondition"
	// NamespaceConditionSeparator separates the reasons in its message.
	NamespaceConditionSeparator = "; "

	// ReasonResourceNotFound means that the cluster does not have a configured kind. The lookup is retried.
	// Install the kind, or remove the entry.
	ReasonResourceNotFound = "ResourceNotFound"
	// ReasonResourceNotNamespaced means that a configured kind is cluster-scoped. Remove the entry.
	ReasonResourceNotNamespaced = "ResourceNotNamespaced"
	// ReasonResourceNotPropagatable means that a configured kind cannot be propagated. Remove the entry.
	ReasonResourceNotPropagatable = "ResourceNotPropagatable"
	// ReasonMultipleConfigurations means that an earlier entry is about the same kind, or that the entry is about
	// Roles or RoleBindings. Remove the entry.
	ReasonMultipleConfigurations = "MultipleConfigurationsForType"
	// ReasonUnknown means that an object cannot be read or written; the message says which, and which permission is
	// missing.
	ReasonUnknown = "Unknown"
	// ReasonPending means that not everything has been read or written yet, or that a limit is not in force everywhere
	// yet; the message says what is missing.
	ReasonPending = "Pending"
)

// Event reasons. Source: docs/spec/hnc.md 3.7.
const (
	// EventCannotPropagate means that an object is not copied; the message says why.
	EventCannotPropagate = "CannotPropagateObject"
	// EventCannotUpdate means that a copy cannot be written; the message says why.
	EventCannotUpdate = "CannotUpdateObject"
	// EventCannotParse means that an annotation that limits where a source is propagated is invalid.
	EventCannotParse = "CannotParseSelector"
	// EventOverwritten means that a copy replaced a local object, or that a RoleBinding to a Role that did not exist was
	// removed before a Role of that name was copied.
	EventOverwritten = "ObjectOverwritten"
	// EventKept means that a local object was kept instead of a copy, because of onConflict or an override.
	EventKept = "ObjectKept"
)

// PodSecurityLabels are the namespace labels of Pod Security admission.
var PodSecurityLabels = []string{
	"pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/enforce-version",
	"pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/audit-version",
	"pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/warn-version",
}

// MigrationPolicy is the ValidatingAdmissionPolicy, and its binding, that rejects changes of hierarchies by others
// while a migration from HNC or its rollback is under way.
const MigrationPolicy = "migration." + GroupName

// MigrationCopiesPolicy is the ValidatingAdmissionPolicy, and its binding, that protects copies during a migration.
const MigrationCopiesPolicy = "migration-copies." + GroupName

// Migration is the ConfigMap in SystemNamespace that holds how far a migration from HNC has got, under these keys. Only
// users who may write there can change it.
const (
	Migration = "hns-migration"
	// MigrationStep is the last step that is completed.
	MigrationStep = "step"
	// MigrationDeleting is set from when HNC's definitions are deleted: a rollback needs the export.
	MigrationDeleting = "deleting"
	// MigrationRollingBack is set from when a rollback begins: the migration cannot be continued before it has ended.
	MigrationRollingBack = "rollingBack"
)
