package cache

import (
	"context"
	"iter"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// views is the resource of TenantViews.
const views = "tenantviews"

// watchViews watches TenantViews. Nothing but their grants waits for the first list.
func (c *Cache) watchViews(ctx context.Context) {
	s, client := c.state, c.Hierarchy.HncV1alpha3().TenantViews(metav1.NamespaceAll)
	reflect(ctx, c, views, &v1alpha3.TenantView{}, client, guarded(c.guard, views, client),
		&store[*v1alpha3.TenantView]{
			convert: func(object any) (*v1alpha3.TenantView, error) { return object.(*v1alpha3.TenantView), nil },
			set:     s.setView,
			remove: func(v *v1alpha3.TenantView) {
				delete(s.Views, v.Namespace)
				s.handlers.viewChanged(s, v.Namespace)
			},
			known: func() iter.Seq[*v1alpha3.TenantView] { return maps.Values(s.Views) }, identify: identify[*v1alpha3.TenantView],
			synced: s.viewsListed,
		})
}

// ObserveView enters the result of our own write, unless the watch is past it.
func (c *Cache) ObserveView(v *v1alpha3.TenantView) {
	c.observe(views, v.ResourceVersion, func(s *State) { s.setView(v) })
}

func (s *State) setView(v *v1alpha3.TenantView) {
	if known := s.Views[v.Namespace]; known != nil && !tree.Newer(v.ResourceVersion, known.ResourceVersion) {
		return
	}
	s.Views[v.Namespace] = v
	s.handlers.viewChanged(s, v.Namespace)
}

// viewsListed records that a missing TenantView does not exist.
func (s *State) viewsListed() {
	if !s.ViewsListed {
		s.ViewsListed = true
		s.handlers.viewChanged(s, "")
	}
}
