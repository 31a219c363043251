// Package binding binds hierarchy objects to the very namespace that they are in, by an owner reference: a namespace
// that is made again under an old name, by a restore for instance, does not inherit the old one's place in the tree.
//
// The owner reference to a Namespace belongs to the server, on every write. While it is there the garbage collector does not delete the
// object, whatever other owners it names: it deletes only what has no existing owner. So references to objects of other kinds are the
// client's.
package binding

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

func isNamespace(ref metav1.OwnerReference) bool {
	return ref.APIVersion == "v1" && ref.Kind == "Namespace"
}

// Bind makes namespace the one Namespace that owns object. The client is warned if it has named another one.
func Bind(ctx context.Context, object metav1.Object, namespace *corev1.Namespace) {
	for _, ref := range object.GetOwnerReferences() {
		if isNamespace(ref) && ref.UID != namespace.UID {
			warning.AddWarning(ctx, "", fmt.Sprintf("metadata.ownerReferences: Namespace %q of UID %q is not recorded as an owner; "+
				"the only Namespace that owns this object is the one that it is in", ref.Name, ref.UID))
		}
	}
	setOwners(object, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID}})
}

// Bound says whether object is bound to namespace.
func Bound(object metav1.Object, namespace *corev1.Namespace) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return isNamespace(ref) && ref.Name == namespace.Name && ref.UID == namespace.UID
	})
}

// Owner returns the namespace that object is in, and whether object is bound to it. A cache that says no may not know the namespace yet.
func Owner(ctx context.Context, t *tree.Tree, object metav1.Object) (namespace *corev1.Namespace, bound bool, err error) {
	if namespace, err = t.Namespace(ctx, object.GetNamespace()); err == nil && !Bound(object, namespace) {
		namespace, err = t.LiveNamespace(ctx, object.GetNamespace())
	}
	return namespace, err == nil && Bound(object, namespace), err
}

// Keep makes the Namespaces that own old own object.
func Keep(object, old metav1.Object) {
	setOwners(object, slices.DeleteFunc(slices.Clone(old.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return !isNamespace(ref) }))
}

// setOwners replaces the references to Namespaces. It changes nothing, not even the order, if they are right.
func setOwners(object metav1.Object, owners []metav1.OwnerReference) {
	var found, others []metav1.OwnerReference
	for _, ref := range object.GetOwnerReferences() {
		if isNamespace(ref) {
			found = append(found, ref)
		} else {
			others = append(others, ref)
		}
	}
	if !apiequality.Semantic.DeepEqual(found, owners) {
		object.SetOwnerReferences(append(others, owners...))
	}
}

// Emptied says whether an update takes the last finalizer of an object that is marked as deleted, so that the object
// goes.
func Emptied(object, old metav1.Object) bool {
	return old.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
}
