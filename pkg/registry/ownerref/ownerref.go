// Package ownerref binds hierarchy objects to the UID of their namespace by an owner reference. A namespace that is
// created again under an earlier name, by a restore for instance, does not inherit the position of the earlier one in
// the tree.
//
// The server sets the owner reference to a Namespace on every write. While it exists, the garbage collector does not
// delete the object, because it deletes only objects without any existing owner. Owner references to other kinds belong
// to the client.
package ownerref

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/warning"
)

// namespaceGetter returns namespaces, from a cache first or from the cluster itself.
type namespaceGetter interface {
	Namespace(ctx context.Context, name string) (*corev1.Namespace, error)
	LiveNamespace(ctx context.Context, name string) (*corev1.Namespace, error)
}

// IsNamespace reports whether the owner is a Namespace.
func IsNamespace(ref metav1.OwnerReference) bool {
	return ref.APIVersion == "v1" && ref.Kind == "Namespace"
}

// Set makes namespace the only Namespace that owns object. It warns the client about references to other Namespaces.
func Set(ctx context.Context, object metav1.Object, namespace *corev1.Namespace) {
	for _, ref := range object.GetOwnerReferences() {
		if IsNamespace(ref) && ref.UID != namespace.UID {
			warning.AddWarning(ctx, "", fmt.Sprintf("metadata.ownerReferences: Namespace %q of UID %q is not recorded as an owner; "+
				"the only Namespace that owns this object is the one that it is in", ref.Name, ref.UID))
		}
	}
	setNamespaces(object, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID}})
}

// isOwnedBy reports whether namespace owns object.
func isOwnedBy(object metav1.Object, namespace *corev1.Namespace) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return IsNamespace(ref) && ref.Name == namespace.Name && ref.UID == namespace.UID
	})
}

// Namespace returns the namespace of an object, and whether it owns the object. If the cached namespace does not, it is
// read from the cluster, because the cache may be stale.
func Namespace(ctx context.Context, getter namespaceGetter, object metav1.Object) (namespace *corev1.Namespace, owns bool, err error) {
	if namespace, err = getter.Namespace(ctx, object.GetNamespace()); err == nil && !isOwnedBy(object, namespace) {
		namespace, err = getter.LiveNamespace(ctx, object.GetNamespace())
	}
	return namespace, err == nil && isOwnedBy(object, namespace), err
}

// Keep replaces the references of object to Namespaces by those of old.
func Keep(object, old metav1.Object) {
	setNamespaces(object, slices.DeleteFunc(slices.Clone(old.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return !IsNamespace(ref) }))
}

// setNamespaces replaces the references to Namespaces. If they are equal already, it does not even change their order.
func setNamespaces(object metav1.Object, owners []metav1.OwnerReference) {
	var found, others []metav1.OwnerReference
	for _, ref := range object.GetOwnerReferences() {
		if IsNamespace(ref) {
			found = append(found, ref)
		} else {
			others = append(others, ref)
		}
	}
	if !apiequality.Semantic.DeepEqual(found, owners) {
		object.SetOwnerReferences(append(others, owners...))
	}
}
