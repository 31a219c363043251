package apiserver

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// isRebuilding returns a function that reports whether the cluster records another store of hierarchies than the present one. uid returns the UID of the
// configuration, or a NotFound error.
func isRebuilding(namespaces corelisters.NamespaceLister, uid func(context.Context) (types.UID, error)) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		system, err := namespaces.Get(hnc.SystemNamespace)
		if apierrors.IsNotFound(err) {
			return false, nil // There is nothing to record a store on.
		}
		if err != nil {
			return false, err
		}
		known := system.Annotations[hnc.AnnotationStore]
		if known == "" {
			return false, nil
		}
		present, err := uid(ctx)
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		return string(present) != known, nil
	}
}

// isPaused reports whether the propagator has paused the propagation.
func (s *stores) isPaused(ctx context.Context) bool {
	c, err := s.configuration.Configuration.Get(ctx, hnc.ConfigurationName, &metav1.GetOptions{ResourceVersion: "0"})
	return err == nil && meta.IsStatusConditionTrue(c.(*hnc.HNCConfiguration).Status.Conditions, hnc.ConditionPropagationPaused)
}

// configurationUID returns the UID of the configuration, or a NotFound error, from the cache of the store.
func (s *stores) configurationUID(ctx context.Context) (types.UID, error) {
	c, err := s.configuration.Configuration.Get(ctx, hnc.ConfigurationName, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return "", err
	}
	return c.(*hnc.HNCConfiguration).UID, nil
}
