package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
)

// namespaces returns the informer of namespaces, without what nobody reads and is most of a Namespace: who has set which of its fields.
// Admission policies can't ask for that either.
func (c CompletedConfig) namespaces() (coreinformers.NamespaceInformer, error) {
	namespaces := c.informers.Core().V1().Namespaces()
	err := namespaces.Informer().SetTransform(func(obj any) (any, error) {
		if namespace, ok := obj.(*corev1.Namespace); ok {
			namespace.ManagedFields = nil
		}
		return obj, nil
	})
	if err != nil {
		return nil, fmt.Errorf("informer of namespaces: %w", err)
	}
	return namespaces, nil
}
