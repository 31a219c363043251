package copies

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

func TestCopiesThatAreNotBelowTheirSourceAreEnqueued(t *testing.T) {
	c, enqueued := newController(), added{}
	c.Queue = enqueued
	track(t, c, copies.Roles)
	for _, name := range []string{"root", "leaf", "left", "apart"} {
		c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}})
	}
	c.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: hnc.Singleton, ResourceVersion: "1"}, Spec: v1beta1.HierarchySpec{Parent: "root"},
	})
	clear(enqueued)
	c.Cache.Update(func(s *cache.State) {
		for namespace, from := range map[string]string{"root": "", "leaf": "root", "left": "root", "apart": ""} {
			m := metav1.ObjectMeta{Namespace: namespace, Name: "ops", UID: types.UID(namespace), ResourceVersion: "1"}
			if from != "" {
				m.Labels = map[string]string{hnc.LabelInheritedFrom: from}
			}
			s.Kind(0).Index.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: m}, copies.Roles, &copies.Rules{}))
		}
	})
	c.enqueueOrphaned(0)
	if want := (added{{Class: queue.Copy, Kind: 0, Namespace: "left", Name: "ops"}: true}); !maps.Equal(enqueued, want) {
		t.Errorf("enqueued are %v, want %v", enqueued, want)
	}
}

func TestNamespacesInWhichLimitsCameIntoForceAreEnqueued(t *testing.T) {
	c, enqueued := newController(), added{}
	c.Queue = enqueued
	c.Cache.Update(func(s *cache.State) { s.AddEventHandlers(c.Handlers()) })
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new", UID: "new", ResourceVersion: "1", Annotations: map[string]string{hnc.AnnotationLimitsPending: "uid"}}}
	c.Cache.ObserveNamespace(ns)
	clear(enqueued)
	ns = ns.DeepCopy()
	ns.ResourceVersion, ns.Annotations = "2", nil
	c.Cache.ObserveNamespace(ns)
	if want := (added{{Class: queue.Destination, Namespace: "new"}: true}); !maps.Equal(enqueued, want) {
		t.Errorf("enqueued are %v, want %v", enqueued, want)
	}
}
