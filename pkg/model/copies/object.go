package copies

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Kind is a propagated kind of objects.
type Kind struct {
	schema.GroupVersionResource
	// Kind is the name of the kind, such as RoleBinding.
	Kind string
}

// Roles and RoleBindings are the kinds that are always propagated. Source: docs/spec/hnc.md 1.4.
var (
	Roles        = Kind{schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: "roles"}, "Role"}
	RoleBindings = Kind{schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: "rolebindings"}, "RoleBinding"}
)

// Kinds are Roles and RoleBindings. Roles are first: a binding without its role grants nothing.
var Kinds = []Kind{Roles, RoleBindings}

// Object is the index's record of a source or a copy. It is immutable.
type Object struct {
	Namespace       string
	Name            string
	UID             types.UID
	ResourceVersion string
	Terminating     bool
	// InheritedFrom is the namespace of a copy's source. It is meaningless unless Copy is set.
	InheritedFrom string
	Copy          bool
	// Digest identifies the content of a source's copies, or of a copy: the two are equal if the copy is right.
	Digest Digest
	// Finalized reports that a source has finalizers.
	Finalized bool

	// fitness determines where a source is copied to. It is never nil, and most copies, which are most objects, share one.
	*fitness
	// content is that of a source's copies; nil if it has none.
	content *content
	// stored, unless it is zero, is the digest of what was written when the server stored something else, because it
	// had changed the object. Without it such a copy would be written again and again.
	stored Digest
}

// NewObject returns the record of an object.
func NewObject(u *unstructured.Unstructured, rules *Rules) (*Object, error) {
	secretType, _, _ := unstructured.NestedString(u.Object, "type")
	o := newObject(u, u.GroupVersionKind().GroupKind(), secretType, roleOf(u), rules)
	var c *content
	var err error
	switch {
	case o.Copy:
		if c, err = contentOf(u, u.GetLabels(), u.GetAnnotations()); err == nil {
			c.owners = ownersOf(u)
		}
	case o.unfit:
		return o, nil
	default:
		labels, annotations := copiedMetadata(u, o.overrides, rules)
		c, err = contentOf(u, labels, annotations)
		o.content = c
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", u.GetKind(), o.Namespace, o.Name, err)
	}
	o.Digest = c.digest()
	return o, nil
}

// roleOf returns the name of the Role that an object refers to, "" if it is no RoleBinding or refers to a ClusterRole.
func roleOf(u *unstructured.Unstructured) string {
	if u.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: RoleBindings.Group, Kind: RoleBindings.Kind}) {
		return ""
	}
	if kind, _, _ := unstructured.NestedString(u.Object, "roleRef", "kind"); kind != Roles.Kind {
		return ""
	}
	name, _, _ := unstructured.NestedString(u.Object, "roleRef", "name")
	return name
}

// NewSource returns the record of an object of which only the metadata is known. That is enough to decide where it is
// copied to and what its copies overwrite, but not what they contain. The types of Secrets are not known: callers have
// to leave out ExcludedSecrets. RoleBindings need NewRoleBinding.
func NewSource(m *metav1.PartialObjectMetadata, kind Kind, rules *Rules) *Object {
	return newObject(m, kind.GroupVersion().WithKind(kind.Kind).GroupKind(), "", "", rules)
}

// NewRoleBinding does so for a RoleBinding, of which the roleRef matters, too.
func NewRoleBinding(b *rbacv1.RoleBinding, rules *Rules) *Object {
	role := ""
	if b.RoleRef.Kind == Roles.Kind {
		role = b.RoleRef.Name
	}
	return newObject(b, schema.GroupKind{Group: RoleBindings.Group, Kind: RoleBindings.Kind}, "", role, rules)
}

func newObject(m metav1.Object, kind schema.GroupKind, secretType, role string, rules *Rules) *Object {
	from, isCopy := m.GetLabels()[hnc.LabelInheritedFrom]
	o := &Object{
		Namespace:       m.GetNamespace(),
		Name:            m.GetName(),
		UID:             m.GetUID(),
		ResourceVersion: m.GetResourceVersion(),
		Terminating:     m.GetDeletionTimestamp() != nil,
		InheritedFrom:   from,
		Copy:            isCopy,
	}
	if isCopy {
		o.fitness = fitnessOfCopy(role)
		return o
	}
	o.Finalized = len(m.GetFinalizers()) > 0
	o.fitness = rules.fitness(m, kind, secretType)
	o.role = role
	return o
}

// WithoutContent returns the object without the content of its copies: enough to decide about writes, not to make them.
func (o *Object) WithoutContent() *Object {
	if o.content == nil {
		return o
	}
	light := *o
	light.content = nil
	return &light
}

// Unreadable returns the error in the annotations of a source that select namespaces, nil if there is none.
func (o *Object) Unreadable() error { return o.problem }

// Misread returns the error in the annotations about overriding, nil if there is none. Such an annotation neither
// allows nor requests an override, and does not affect where a source is copied to.
func (o *Object) Misread() error { return o.misread }

// Size returns about how many bytes a request has that writes a copy of a source.
func (o *Object) Size() int {
	if o.content == nil {
		return 0
	}
	return len(o.content.metadata) + len(o.content.rest)
}

// TextSize returns about how many bytes the names and annotations in the record have, and what they are parsed to.
func (o *Object) TextSize() int { return len(o.Name) + len(o.role) + o.annotations.Size() }

// AsksToOverride reports whether the object requests to be kept instead of a copy.
func (o *Object) AsksToOverride() bool { return o != nil && !o.Copy && o.overrides.Requested }

// Overrides reports whether the object is kept where the source would be copied, because it requests that and the
// source allows it.
func (o *Object) Overrides(source *Object) bool {
	return o.AsksToOverride() && source.overrides.Allowed
}

// Held reports whether the object is a deleted copy that finalizers or its grace period keep.
func (o *Object) Held() bool { return o != nil && o.Copy && o.Terminating }

// Fit reports whether the object is a source that may have copies.
func (o *Object) Fit() bool { return o != nil && !o.Copy && !o.unfit }

// WithheldByFinalizers reports whether the object is a source that only its finalizers keep from having copies.
func (o *Object) WithheldByFinalizers() bool { return o.withheld }

// SameCopies reports whether both are sources with the same copies, or neither is a source that may have copies.
func (o *Object) SameCopies(old *Object) bool {
	if !o.Fit() || !old.Fit() {
		return o.Fit() == old.Fit()
	}
	return o.Digest == old.Digest && o.annotations == old.annotations
}

// Unaddressable reports whether the object is a source with a name that requests to delete its copies could not
// contain, so it has none.
func (o *Object) Unaddressable() bool { return o != nil && !o.Copy && !names.Addressable(o.Name) }

// Notable reports whether the object has a new problem that its owner should know about: it can't have copies, or an
// annotation can't be parsed.
func (o *Object) Notable(old *Object) bool {
	if o == nil || (o.problem == nil && o.misread == nil && !o.WithheldByFinalizers() && !o.Unaddressable()) {
		return false
	}
	return old == nil || o.annotations != old.annotations || o.WithheldByFinalizers() != old.WithheldByFinalizers()
}

// holds reports whether a copy contains what would be written with that digest.
func (o *Object) holds(wanted Digest) bool {
	return o.Digest == wanted || (o.stored != Digest{} && o.stored == wanted)
}

// Reference returns a reference to the object for events, which the name must fit into.
func (o *Object) Reference(k Kind) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: k.GroupVersion().String(), Kind: k.Kind, Namespace: o.Namespace, Name: names.Shorten(o.Name), UID: o.UID,
		ResourceVersion: o.ResourceVersion,
	}
}

// GetObjectMeta returns the object's name and namespace only, which a reflector's temporary store needs.
func (o *Object) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}
}

// GetObjectKind returns nothing, because the index knows the kind. Like DeepCopyObject, a reflector's lists need it.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the object itself, which is immutable.
func (o *Object) DeepCopyObject() runtime.Object { return o }
