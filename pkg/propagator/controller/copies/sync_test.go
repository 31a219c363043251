package copies

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

func newController() *Controller {
	return New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managed.Default()}), Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, Config{Workers: 1, FailuresChanged: func() {}})
}

// track makes the kinds known and their indexes complete, in which there is nothing.
func track(t *testing.T, c *Controller, kinds ...copies.Kind) {
	t.Helper()
	c.Cache.Update(func(s *cache.State) {
		var wanted []*cache.WantedKind
		for _, kind := range kinds {
			wanted = append(wanted, &cache.WantedKind{Kind: kind, Policies: copies.Policies{Cluster: copies.Policy{Mode: v1beta1.Ignore}}})
		}
		c.Cache.SetKinds(t.Context(), s, wanted) // Ignored kinds are not watched.
		for i, kind := range kinds {
			s.Kind(i).Index, s.Kind(i).Synced = copies.NewIndex(kind), true
		}
	})
}

// Access must not be the union of two trees, but one object that can't be removed must not keep the policies of the new
// tree out.
func TestFailedRemovalsDelayNewCopiesForABoundedNumberOfTries(t *testing.T) {
	c := newController()
	for try := range maxRemovalTries - 1 {
		if c.removalEnded("moved", true) {
			t.Errorf("after %d tries, new copies are written", try+1)
		}
	}
	if c.removalEnded("other", true) {
		t.Error("the tries of one namespace count for another")
	}
	for range 2 {
		if !c.removalEnded("moved", true) {
			t.Error("new copies are never written")
		}
	}
	if !c.removalEnded("moved", false) || c.removalEnded("moved", true) {
		t.Error("a later move has no tries")
	}
}

// A namespace of that name that is created later has not moved, and nothing has failed there.
func TestADeletedNamespaceIsForgotten(t *testing.T) {
	c := newController()
	c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone", UID: "u", ResourceVersion: "1", DeletionTimestamp: &metav1.Time{}}})
	c.moving["gone"] = 1
	c.removalEnded("gone", true)
	if err := c.syncDestination(t.Context(), "gone"); err != nil || len(c.moving)+len(c.removalTries) > 0 {
		t.Errorf("returned %v, and knows %v and %v", err, c.moving, c.removalTries)
	}
}
