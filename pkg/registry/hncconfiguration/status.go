package hncconfiguration

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ReportRules makes the stored status report the rules of this server, if there is a configuration. A configuration
// that is created later reports them from the start.
func (s *Storage) ReportRules(ctx context.Context) error {
	unchanged := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, stored runtime.Object) (runtime.Object, error) {
		return stored.DeepCopyObject(), nil // the strategy sets the rules
	})
	// Contexts of requests have a namespace, the empty one for cluster-scoped resources.
	ctx = genericapirequest.WithNamespace(ctx, metav1.NamespaceNone)
	_, _, err := s.Status.Update(ctx, hnc.ConfigurationName, unchanged, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
