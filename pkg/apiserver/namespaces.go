package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
)

// namespaces returns the informer of namespaces. It drops their managed fields, which are most of their size and have no reader: admission policies
// cannot access them either.
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
