package tenantview

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// get returns the TenantView of a namespace, nil if it has none. It reads a cache.
func (s *Storage) get(ctx context.Context, namespace string) (*hnc.TenantView, error) {
	o, err := s.View.Get(genericapirequest.WithNamespace(ctx, namespace), hnc.TenantViewSingleton, &metav1.GetOptions{ResourceVersion: "0"})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return o.(*hnc.TenantView), nil
}

// Names returns the names in the view of a namespace, without its members; nil if the namespace has no TenantView. It
// reads a cache.
func (s *Storage) Names(ctx context.Context, namespace string) (*mapping.Names, error) {
	o, err := s.get(ctx, namespace)
	if o == nil || err != nil {
		return nil, err
	}
	var view v1alpha3.TenantView
	if err := v1alpha3.Convert_hnc_TenantView_To_v1alpha3_TenantView(o, &view, nil); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return mapping.NewNames(mapping.Of(&view, nil)), nil
}

// CustomResources returns how many CustomResourceDefinitions the view of a namespace may have. It reads a cache.
func (s *Storage) CustomResources(ctx context.Context, namespace string) (int, error) {
	o, err := s.get(ctx, namespace)
	if o == nil || err != nil {
		return 0, err
	}
	return int(o.Spec.CustomResources.Limit), nil
}
