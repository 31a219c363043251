package propagator

import (
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

func TestOnlyDivergentNamespacesAreEnqueuedAtTheStart(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"root", "left", "right"} {
		c.namespace(name)
	}
	c.parent("left", "root")
	c.parent("right", "root")
	c.role("root", "a", "get")
	c.start()
	look := func() string {
		var words []string
		c.propagator.cache.Read(func(s *cache.State) {
			for what, r := range map[string]reconciler{"labels": c.propagator.namespaces, "status": c.propagator.hierarchies, "copies": c.propagator.copies} {
				for _, namespace := range divergent(s, r) {
					words = append(words, namespace+" "+what)
				}
			}
		})
		slices.Sort(words)
		return strings.Join(words, ", ")
	}
	c.eventuallyRoles("left", "a=get<root")
	c.eventuallyRoles("right", "a=get<root")
	c.eventually("divergent namespaces", "", look)
	// The server sends no more events, so the cache stays as the test changes it.
	c.stop()
	c.propagator.cache.Update(func(s *cache.State) {
		for _, k := range s.Kinds() {
			if o := k.Index.Get("left", "a"); o != nil {
				k.Index.Delete(o.Namespace, o.Name, o.UID)
			}
		}
		s.Tree.DeleteHierarchy("right", s.Tree.Hierarchy("right").UID)
	})
	if got, want := look(), "left copies, right copies, right labels, root status"; got != want {
		t.Errorf("divergent are %s, want %s", got, want)
	}
}
