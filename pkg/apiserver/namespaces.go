package apiserver

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// namespaces returns the informer of namespaces. It drops their managed fields, which are most of their size and have
// no reader: admission policies cannot access them either.
func (c CompletedConfig) namespaces() (coreinformers.NamespaceInformer, error) {
	namespaces := c.informers.Core().V1().Namespaces()
	err := namespaces.Informer().SetTransform(func(obj any) (any, error) {
		if namespace, ok := obj.(*corev1.Namespace); ok {
			namespace.ManagedFields = nil
		}
		return obj, nil
	})
	if err == nil {
		err = namespaces.Informer().AddIndexers(cache.Indexers{
			byAbstractAncestor: indexNamespaces(func(namespace *corev1.Namespace) []string { return hnc.AbstractAncestors(namespace.Annotations) }),
			bySubnamespaceOf: indexNamespaces(func(namespace *corev1.Namespace) []string {
				return []string{managedkeys.SubnamespaceOf(namespace.Annotations)}
			}),
			byTerminatingChild: indexNamespaces(terminatingBelow),
			byTermination:      indexNamespaces(termination),
		})
	}
	if err != nil {
		return nil, fmt.Errorf("informer of namespaces: %w", err)
	}
	return namespaces, nil
}

const (
	byAbstractAncestor = "abstractAncestor"
	bySubnamespaceOf   = "subnamespaceOf"
	byTerminatingChild = "terminatingChild"
	byTermination      = "termination"
)

// terminating is the value of byTermination for namespaces that are being deleted. The others are not in that index.
const terminating = "terminating"

func termination(namespace *corev1.Namespace) []string {
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	return []string{terminating}
}

// terminatingBelow returns the parent that the tree labels of a terminating namespace name: it stays there although its
// hierarchy may be gone.
func terminatingBelow(namespace *corev1.Namespace) []string {
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	return []string{hnc.LabeledParent(namespace.Name, namespace.Labels, hnc.AbstractAncestors(namespace.Annotations))}
}

func indexNamespaces(values func(*corev1.Namespace) []string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		namespace, ok := obj.(*corev1.Namespace)
		if !ok {
			return nil, nil
		}
		return slices.DeleteFunc(values(namespace), func(value string) bool { return value == "" }), nil
	}
}

// isAbstractAncestor returns a function that reports whether a name is that of an abstract ancestor of a namespace.
func isAbstractAncestor(namespaces coreinformers.NamespaceInformer) func(name string) bool {
	return func(name string) bool {
		keys, err := namespaces.Informer().GetIndexer().IndexKeys(byAbstractAncestor, name)
		return err == nil && len(keys) > 0
	}
}
