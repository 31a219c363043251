// Package binding binds hierarchy objects to the very namespace that they are in, by an owner reference: a namespace
// that is made again under an old name, by a restore for instance, does not inherit the old one's place in the tree.
package binding

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func isNamespace(ref metav1.OwnerReference) bool {
	return ref.APIVersion == "v1" && ref.Kind == "Namespace"
}

// Bind makes namespace the one namespace that owns object.
func Bind(object metav1.Object, namespace *corev1.Namespace) {
	object.SetOwnerReferences(append(
		slices.DeleteFunc(slices.Clone(object.GetOwnerReferences()), isNamespace),
		metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID},
	))
}

// Bound says whether object is bound to namespace.
func Bound(object metav1.Object, namespace *corev1.Namespace) bool {
	i := slices.IndexFunc(object.GetOwnerReferences(), isNamespace)
	return i >= 0 && object.GetOwnerReferences()[i].UID == namespace.UID
}

// Keep restores the binding of old, if a client that knows nothing of it left it out.
func Keep(object, old metav1.Object) {
	if slices.ContainsFunc(object.GetOwnerReferences(), isNamespace) {
		return
	}
	if i := slices.IndexFunc(old.GetOwnerReferences(), isNamespace); i >= 0 {
		object.SetOwnerReferences(append(object.GetOwnerReferences(), old.GetOwnerReferences()[i]))
	}
}

// Emptied says whether an update takes the last finalizer of an object that is marked as deleted, so that the object
// goes.
func Emptied(object, old metav1.Object) bool {
	return old.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
}
