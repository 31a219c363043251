// Package besidehnc tells whether HNC still serves the hierarchies of a cluster in which hns is installed.
package besidehnc

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Definition is the CustomResourceDefinition of HNC's hierarchies. A migration deletes it last.
const Definition = "hierarchyconfigurations." + hnc.GroupName

// Serves reports whether the cluster's hierarchies are in HNC's objects: its definition exists, and hierarchies of hns
// were never propagated, which the system namespace records. Once they were, HNC's definition is a leftover. A nil
// namespace does not exist.
func Serves(ctx context.Context, system *corev1.Namespace, client metadata.Interface) (bool, error) {
	if system != nil && system.Annotations[hnc.AnnotationStore] != "" {
		return false, nil
	}
	found, err := client.Resource(hnc.CRDResource).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + Definition})
	return err == nil && len(found.Items) > 0, err
}
