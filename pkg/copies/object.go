package copies

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Kind is a kind of objects that are propagated.
type Kind struct {
	schema.GroupVersionResource
	// Kind is the name of the kind, such as RoleBinding.
	Kind string
}

// Kinds are always propagated (spec/hnc.md 1.4). Roles go first: a binding without its role grants nothing.
var Kinds = []Kind{
	{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}, "Role"},
	{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}, "RoleBinding"},
}

// Object is what the index keeps of a source or a copy. It is immutable.
type Object struct {
	Namespace       string
	Name            string
	UID             types.UID
	ResourceVersion string
	Terminating     bool
	// InheritedFrom is the namespace that a copy says it comes from. It means nothing unless Copy is set.
	InheritedFrom string
	Copy          bool
	// Digest is that of what a source's copies contain, or of what a copy contains: they are equal when a copy is right.
	Digest Digest
	// Finalized says that a source has finalizers, and so has no copies.
	Finalized bool

	// fitness says where a source is copied to. It is never nil, but shared by copies, of which there are most.
	*fitness
	// content is what a source's copies contain; nil if it has none.
	content *content
	// stored, unless it is zero, is the digest of what we wrote when the server stored something else, having changed it on the
	// way. Without it such a copy would be written over and over again.
	stored Digest
}

// NewObject returns what the index keeps of an object.
func NewObject(u *unstructured.Unstructured, rules *Rules) (*Object, error) {
	secretType, _, _ := unstructured.NestedString(u.Object, "type")
	o := newObject(u, u.GroupVersionKind().GroupKind(), secretType, rules)
	var c *content
	var err error
	switch {
	case o.Copy:
		c, err = contentOf(u, u.GetLabels(), u.GetAnnotations())
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

// NewSource returns what the index keeps of an object of which only the metadata is known. It is enough to decide where it is copied, and
// what its copies overwrite, but not what they contain. The types of Secrets are not known: it is for the caller to leave out
// ExcludedSecrets.
func NewSource(m *metav1.PartialObjectMetadata, kind Kind, rules *Rules) *Object {
	return newObject(m, kind.GroupVersion().WithKind(kind.Kind).GroupKind(), "", rules)
}

func newObject(m metav1.Object, kind schema.GroupKind, secretType string, rules *Rules) *Object {
	from, isCopy := m.GetLabels()[hnc.LabelInheritedFrom]
	o := &Object{
		Namespace:       m.GetNamespace(),
		Name:            m.GetName(),
		UID:             m.GetUID(),
		ResourceVersion: m.GetResourceVersion(),
		Terminating:     m.GetDeletionTimestamp() != nil,
		InheritedFrom:   from,
		Copy:            isCopy,
		fitness:         ofCopies,
	}
	if !isCopy {
		o.Finalized = len(m.GetFinalizers()) > 0
		o.fitness = rules.fitness(m, kind, secretType)
	}
	return o
}

// WithoutContent returns the object without what its copies contain: enough to decide about writes, not to make them.
func (o *Object) WithoutContent() *Object {
	if o.content == nil {
		return o
	}
	light := *o
	light.content = nil
	return &light
}

// Unreadable returns what can't be read in the annotations of a source, nil if there is nothing.
func (o *Object) Unreadable() error { return o.problem }

// Misread returns what can't be read in the annotations about overriding, nil if there is nothing. It allows nothing and asks for
// nothing; where a source goes is not affected.
func (o *Object) Misread() error { return o.misread }

// AsksToOverride says whether the object asks to be kept in the place of a copy.
func (o *Object) AsksToOverride() bool { return o != nil && !o.Copy && o.overrides.Requested }

// Overrides says whether the object is kept where the source would be copied, because it asks for that and the source allows it.
func (o *Object) Overrides(source *Object) bool {
	return o.AsksToOverride() && source.overrides.Allowed
}

// Held says whether the object is a copy that is deleted, and kept by finalizers or until it has ended gracefully.
func (o *Object) Held() bool { return o != nil && o.Copy && o.Terminating }

// Fit says whether the object is a source that may have copies.
func (o *Object) Fit() bool { return o != nil && !o.Copy && !o.unfit }

// SameCopies says whether both are sources with the same copies, or neither is a source that may have copies.
func (o *Object) SameCopies(old *Object) bool {
	if !o.Fit() || !old.Fit() {
		return o.Fit() == old.Fit()
	}
	return o.Digest == old.Digest && o.annotations == old.annotations
}

// Remarkable says whether it is new that something is wrong with the object that its owner should know: it can't have copies, or an
// annotation can't be read.
func (o *Object) Remarkable(old *Object) bool {
	if o == nil || (o.problem == nil && o.misread == nil && !o.Finalized) {
		return false
	}
	return old == nil || o.annotations != old.annotations || o.Finalized != old.Finalized
}

// holds says whether a copy holds what we would write with that digest.
func (o *Object) holds(wanted Digest) bool {
	return o.Digest == wanted || (o.stored != Digest{} && o.stored == wanted)
}

// Reference returns a reference to the object for events.
func (o *Object) Reference(k Kind) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: k.GroupVersion().String(), Kind: k.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID,
		ResourceVersion: o.ResourceVersion,
	}
}

// GetObjectMeta returns the object's name and namespace alone: they make it fit for a reflector's temporary store.
func (o *Object) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}
}

// GetObjectKind returns nothing: the index knows its kind. With DeepCopyObject it makes objects fit for a reflector's lists.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the object itself, as it is immutable.
func (o *Object) DeepCopyObject() runtime.Object { return o }
