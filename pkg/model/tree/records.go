package tree

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// Namespace is the part of a Namespace that the tree keeps.
type Namespace struct {
	Name            string
	UID             types.UID
	ResourceVersion string
	Created         metav1.Time
	Labels          map[string]string
	// Annotations are the managed ones, once the tree has the record.
	Annotations map[string]string
	// SubnamespaceOf is the parent that the Namespace's annotation names, "" if it is not a sub-namespace.
	SubnamespaceOf string
	// Ancestry is the path to the root in the Namespace's annotation, "" if there is none.
	Ancestry string
	// Abstract are the abstract ancestors in the Namespace's annotation, nil if there are none.
	Abstract []string
	// InheritedPodSecurity records the Pod Security labels that the namespace has inherited.
	InheritedPodSecurity string
	// CreatorPending is the UID of the Subnamespace whose requester has yet to get the creator's role here, "" for
	// none.
	CreatorPending types.UID
	// LimitsPending is the UID of the Subnamespace that the namespace was created for, until the limits above are in
	// force in it; "" afterwards.
	LimitsPending types.UID
	// ManagedBy names who manages an external namespace, which can't have a parent; "" for all others.
	ManagedBy   string
	Terminating bool
	// VanishesLast reports that our finalizer keeps the namespace until the last of its sub-namespaces is gone.
	// Finalized reports that nothing but finalizers of its metadata keeps it: Kubernetes has deleted its content.
	VanishesLast bool
	Finalized    bool
	// Remaining is the message of the condition that says which sub-namespaces keep the namespace, "" if it is not
	// true.
	Remaining string

	// excluded says why the namespace takes no part in a hierarchy, "" if it does. managedLabels are the managed ones
	// of one that names a manager. The tree fills them in.
	excluded      string
	managedLabels map[string]string
}

// NewNamespace returns what the tree keeps of ns.
func NewNamespace(ns *corev1.Namespace) *Namespace {
	n := &Namespace{
		Name:                 ns.Name,
		UID:                  ns.UID,
		ResourceVersion:      ns.ResourceVersion,
		Created:              ns.CreationTimestamp,
		Labels:               ns.Labels,
		Annotations:          ns.Annotations,
		SubnamespaceOf:       managedkeys.SubnamespaceOf(ns.Annotations),
		ManagedBy:            managedkeys.Manager(ns.Annotations),
		Ancestry:             ns.Annotations[hnc.AnnotationAncestry],
		Abstract:             hnc.AbstractAncestors(ns.Annotations),
		InheritedPodSecurity: ns.Annotations[hnc.AnnotationInheritedPodSecurity],
		CreatorPending:       types.UID(ns.Annotations[hnc.AnnotationCreatorPending]),
		LimitsPending:        types.UID(ns.Annotations[hnc.AnnotationLimitsPending]),
		Terminating:          ns.DeletionTimestamp != nil,
		VanishesLast:         slices.Contains(ns.Finalizers, hnc.FinalizerSubnamespaces),
		Finalized:            ns.DeletionTimestamp != nil && len(ns.Spec.Finalizers) == 0,
	}
	for _, condition := range ns.Status.Conditions {
		if condition.Type == hnc.ConditionSubnamespacesRemain && condition.Status == corev1.ConditionTrue {
			n.Remaining = condition.Message
		}
	}
	return n
}

// Hierarchy is the part of a Hierarchy that the tree keeps.
type Hierarchy struct {
	Namespace       string
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// Owner is the UID of the Namespace that the record is bound to, "" if it is not bound. Misbound reports that it
	// names another namespace as its owner, which the API server does not store any more.
	Owner     types.UID
	Misbound  bool
	Parent    string
	Cascading bool
	// Required are the names of the required sub-namespaces.
	Required []string
	// Abstract are the abstract ancestors, the nearest first. SharesNames allows them to have the names of namespaces.
	Abstract    []string
	SharesNames bool
	Metadata    Metadata
	// Propagation are the specified kinds.
	Propagation []v1beta1.ResourceSpec
	Status      v1beta1.HierarchyStatus
}

// NewHierarchy returns the record of h.
func NewHierarchy(h *v1beta1.Hierarchy) *Hierarchy {
	return &Hierarchy{
		Namespace:       h.Namespace,
		UID:             h.UID,
		ResourceVersion: h.ResourceVersion,
		Generation:      h.Generation,
		Owner:           owner(h.OwnerReferences, h.Namespace),
		Misbound:        misbound(h.OwnerReferences, h.Namespace),
		Parent:          h.Spec.Parent,
		Cascading:       h.Spec.AllowCascadingDeletion != nil && *h.Spec.AllowCascadingDeletion,
		Required:        h.Spec.RequiredChildren,
		Abstract:        h.Spec.AbstractAncestors,
		SharesNames:     h.Annotations[hnc.AnnotationAllowSharedNames] == "true",
		Metadata: Metadata{
			Labels: h.Spec.Labels, Annotations: h.Spec.Annotations,
			NamespaceLabels: h.Spec.NamespaceLabels, NamespaceAnnotations: h.Spec.NamespaceAnnotations,
		},
		Propagation: h.Spec.Propagation,
		Status:      h.Status,
	}
}

// Subnamespace is the part of a Subnamespace that the tree keeps.
type Subnamespace struct {
	Key
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// Owner is the UID of the parent Namespace that the record is bound to, "" if it is not bound. Misbound is as that
	// of a Hierarchy.
	Owner       types.UID
	Misbound    bool
	Created     metav1.Time
	Terminating bool
	Finalizers  []string
	// Requester is the user who created it, "" if the propagator did.
	Requester string
	// Required reports that it was created because its parent required it.
	Required bool
	// Void reports that its namespace was converted to a full one, or never was its sub-namespace.
	Void     bool
	Metadata Metadata
	Status   v1beta1.SubnamespaceStatus
}

// Key names a Subnamespace: the namespace that it is in, which is the parent, and the sub-namespace that it asks for.
type Key struct{ Parent, Name string }

// NewSubnamespace returns the record of s.
func NewSubnamespace(s *v1beta1.Subnamespace) *Subnamespace {
	return &Subnamespace{
		Key:             Key{Parent: s.Namespace, Name: s.Name},
		UID:             s.UID,
		ResourceVersion: s.ResourceVersion,
		Generation:      s.Generation,
		Owner:           owner(s.OwnerReferences, s.Namespace),
		Misbound:        misbound(s.OwnerReferences, s.Namespace),
		Created:         s.CreationTimestamp,
		Terminating:     s.DeletionTimestamp != nil,
		Finalizers:      s.Finalizers,
		Requester:       s.Annotations[hnc.AnnotationRequester],
		Required:        s.Annotations[hnc.AnnotationRequired] == "true",
		Void:            hnc.IsVoid(s.Annotations),
		Metadata: Metadata{
			Labels: s.Spec.Labels, Annotations: s.Spec.Annotations,
			NamespaceLabels: s.Spec.NamespaceLabels, NamespaceAnnotations: s.Spec.NamespaceAnnotations,
		},
		Status: s.Status,
	}
}

// Held reports whether our finalizer keeps the record.
func (s *Subnamespace) Held() bool { return slices.Contains(s.Finalizers, hnc.FinalizerSubnamespace) }

// owner returns the UID of the Namespace of that name that the references name, "" if they name none.
func owner(references []metav1.OwnerReference, namespace string) types.UID {
	for _, r := range references {
		if isNamespace(r) && r.Name == namespace {
			return r.UID
		}
	}
	return ""
}

func misbound(references []metav1.OwnerReference, namespace string) bool {
	return slices.ContainsFunc(references, func(r metav1.OwnerReference) bool { return isNamespace(r) && r.Name != namespace })
}

func isNamespace(r metav1.OwnerReference) bool { return r.Kind == "Namespace" && r.APIVersion == "v1" }

// Newer reports whether the version of an object is newer than the one that is known. Versions that can't be compared
// count as newer, so that what a server says is believed.
func Newer(version, known string) bool {
	c, err := resourceversion.CompareResourceVersion(version, known)
	return err != nil || c > 0
}
