package suite

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ForgetStore removes what the cluster records about the store of the hierarchies, as before the first one.
func ForgetStore(ctx context.Context, client kubernetes.Interface) error {
	forgotten := []byte(`{"metadata":{"annotations":{"` + hnc.AnnotationStore + `":null,"` + hnc.AnnotationCheckpoint + `":null}}}`)
	_, err := client.CoreV1().Namespaces().Patch(ctx, hnc.SystemNamespace, types.MergePatchType, forgotten, metav1.PatchOptions{})
	return err
}
