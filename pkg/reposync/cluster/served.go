package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Served are the kinds that the cluster serves, as of the last Refresh; none before the first. Its methods may be
// called concurrently.
type Served struct {
	client discovery.DiscoveryInterface
	mu     sync.Mutex
	found  *kinds
}

// Refresh reads the kinds that the cluster serves.
func (s *Served) Refresh(ctx context.Context) error {
	found, err := discover(ctx, s.client)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = found
	return nil
}

func (s *Served) current() *kinds {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found == nil {
		return &kinds{mapper: meta.MultiRESTMapper{}, scopes: kindscope.Table{}}
	}
	return s.found
}

// AwaitKinds reads the kinds again, once at least, until the cluster serves all of these, for up to limit. It reports
// whether it does.
func (s *Served) AwaitKinds(ctx context.Context, kinds []schema.GroupKind, limit time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	lacks := func(kind schema.GroupKind) bool {
		_, ok := s.Resource(kind)
		return !ok
	}
	for {
		if err := s.Refresh(ctx); err == nil && !slices.ContainsFunc(kinds, lacks) {
			return true
		}
		select {
		case <-waiting.Done():
			return false
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// Scopes returns the scopes of the kinds that the cluster serves, and an error if some API services did not respond, so
// that kinds are missing.
func (s *Served) Scopes() (kindscope.Lookup, error) {
	found := s.current()
	return found.scopes, found.incomplete
}

// clusterScoped reports whether objects of a kind are in no namespace.
func (s *Served) clusterScoped(kind schema.GroupKind) bool {
	namespaced, known := s.current().scopes[kind]
	return known && !namespaced
}

// Kinds returns the kinds whose objects can be listed and deleted, except those that nobody puts in a repository.
func (s *Served) Kinds() []schema.GroupKind { return s.current().deletable }

// Resource returns the resource of a kind in its preferred version, and whether the cluster serves it.
func (s *Served) Resource(kind schema.GroupKind) (schema.GroupVersionResource, bool) {
	resource, err := s.resource(kind, "")
	return resource, err == nil
}

// ResourceOf returns the resource of an object, in its version.
func (s *Served) ResourceOf(o *plan.Object) (schema.GroupVersionResource, error) {
	return s.resource(o.Declared.GroupKind(), o.Declared.Version)
}

// Kind returns the kind of a resource in any version, and whether the cluster serves it.
func (s *Served) Kind(resource schema.GroupResource) (schema.GroupKind, bool) {
	kind, ok := s.current().byResource[resource]
	return kind, ok
}

// resource returns the resource of a kind in a version, the preferred one if version is empty.
func (s *Served) resource(kind schema.GroupKind, version string) (schema.GroupVersionResource, error) {
	var versions []string
	if version != "" {
		versions = []string{version}
	}
	mapper := s.current().mapper
	mapping, err := mapper.RESTMapping(kind, versions...)
	if alias, ok := object.Alias(kind); ok && err != nil && version == "" {
		mapping, err = mapper.RESTMapping(alias)
	}
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return mapping.Resource, nil
}
