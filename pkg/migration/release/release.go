// Package release removes what hns-propagator keeps namespaces by.
package release

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
)

// Namespaces removes the finalizer by which namespaces vanish after their sub-namespaces. hns-propagator must
// not run: it would set it again. The field manager is that of the writes.
func Namespaces(ctx context.Context, kube kubernetes.Interface, fieldManager string) error {
	client := kube.CoreV1().Namespaces()
	namespaces, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	namespaces.Items = slices.DeleteFunc(namespaces.Items, func(ns corev1.Namespace) bool {
		return !slices.Contains(ns.Finalizers, hnc.FinalizerSubnamespaces)
	})
	patch := []byte(`{"metadata":{"$deleteFromPrimitiveList/finalizers":["` + hnc.FinalizerSubnamespaces + `"]}}`)
	return each.Of(ctx, namespaces.Items, func(ctx context.Context, found corev1.Namespace) error {
		// Without a resourceVersion, so that other users who change the namespace all the time do not prevent it.
		_, err := client.Patch(ctx, found.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
