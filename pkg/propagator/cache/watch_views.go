package cache

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// views is the resource of TenantViews.
const views = "tenantviews"

// watchViews watches TenantViews. Nothing but their grants waits for the first list.
func (c *Cache) watchViews(ctx context.Context) {
	s, client := c.state, c.Hierarchy.HncV1alpha3().TenantViews(metav1.NamespaceAll)
	reflect(ctx, c, views, &v1alpha3.TenantView{}, client, c.guard.watch(views, client.Watch),
		c.guard.list(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) }),
		&store[*v1alpha3.TenantView]{
			convert: func(object any) (*v1alpha3.TenantView, error) { return object.(*v1alpha3.TenantView), nil },
			set:     s.setView,
			remove:  func(v *v1alpha3.TenantView) { s.removeView(v.Namespace) },
			replace: s.replaceViews,
			synced:  func() { s.viewsListed() },
		})
}

// ObserveView enters the result of our own write, unless the watch is past it.
func (c *Cache) ObserveView(v *v1alpha3.TenantView) {
	c.Update(func(s *State) {
		if s.versions.ahead(views, v.ResourceVersion) {
			s.setView(v)
		}
	})
}

func (s *State) setView(v *v1alpha3.TenantView) {
	s.Views[v.Namespace] = v
	s.handlers.viewChanged(s, v.Namespace)
}

func (s *State) removeView(namespace string) {
	delete(s.Views, namespace)
	s.handlers.viewChanged(s, namespace)
}

func (s *State) replaceViews(list []*v1alpha3.TenantView, newer func(string) bool) {
	listed := map[string]bool{}
	for _, v := range list {
		listed[v.Namespace] = true
		if known := s.Views[v.Namespace]; known == nil || tree.Newer(v.ResourceVersion, known.ResourceVersion) {
			s.setView(v)
		}
	}
	for namespace, known := range s.Views {
		if !listed[namespace] && !newer(known.ResourceVersion) {
			s.removeView(namespace)
		}
	}
}

// viewsListed records that a missing TenantView does not exist.
func (s *State) viewsListed() {
	if !s.ViewsListed {
		s.ViewsListed = true
		s.handlers.viewChanged(s, "")
	}
}
