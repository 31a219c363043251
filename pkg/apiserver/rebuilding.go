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

// isRebuilding returns a function that reports whether the cluster records another store of hierarchies than the
// present one. uid returns the UID of the configuration, or a NotFound error.
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

// whyStopped returns why nothing is propagated, as far as the propagator has recorded it; "" if it propagates.
func (s *stores) whyStopped(ctx context.Context) string {
	c, err := s.configuration.Configuration.Get(ctx, hnc.ConfigurationName, &metav1.GetOptions{ResourceVersion: "0"})
	if err == nil && meta.IsStatusConditionTrue(c.(*hnc.HNCConfiguration).Status.Conditions, hnc.ConditionPropagationPaused) {
		return "the propagation is paused after a restore until an administrator ends the pause"
	}
	if system, err := s.namespaces.Get(hnc.SystemNamespace); err == nil && system.Annotations[hnc.AnnotationStore] == "" {
		return "hns-propagator has not propagated anything in this cluster yet"
	}
	return ""
}

// configurationUID returns the UID of the configuration, or a NotFound error, from the cache of the store.
func (s *stores) configurationUID(ctx context.Context) (types.UID, error) {
	c, err := s.configuration.Configuration.Get(ctx, hnc.ConfigurationName, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return "", err
	}
	return c.(*hnc.HNCConfiguration).UID, nil
}
