package copies

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
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
	if want := (added{{Class: queue.Revocation, Kind: 0, Namespace: "left", Name: "ops"}: true}); !maps.Equal(enqueued, want) {
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

// A tenant may have any number of copies to write in the same namespaces. What is not a permission may be a restriction
// that another copy replaces.
func TestRevocationsDoNotWaitForOtherCopies(t *testing.T) {
	policies := copies.Kind{GroupVersionResource: networkingv1.SchemeGroupVersion.WithResource("networkpolicies"), Kind: "NetworkPolicy"}
	for kind, class := range map[copies.Kind]struct{ removed, updated queue.Class }{
		copies.Roles: {queue.Revocation, queue.Copy}, copies.RoleBindings: {queue.Revocation, queue.Revocation}, policies: {queue.Copy, queue.Copy},
	} {
		c, enqueued := newController(), added{}
		c.Queue = enqueued
		track(t, c, kind)
		for _, name := range []string{"root", "leaf"} {
			c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}})
		}
		c.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
			ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: hnc.Singleton, ResourceVersion: "1"}, Spec: v1beta1.HierarchySpec{Parent: "root"},
		})
		c.Cache.Update(func(s *cache.State) {
			m := metav1.ObjectMeta{Namespace: "leaf", Name: "ops", UID: "copy", ResourceVersion: "1", Labels: map[string]string{hnc.LabelInheritedFrom: "root"}}
			s.Kind(0).Index.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: m}, kind, &copies.Rules{}))
			m.Name, m.UID = "updated", "updated"
			s.Kind(0).Index.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: m}, kind, &copies.Rules{}))
			s.Kind(0).Index.Set(source(t, "root", "Role", "updated"))
			s.Kind(0).Index.Set(source(t, "root", "Role", "written"))
		})
		for _, name := range []string{"ops", "updated", "written"} {
			c.syncSource(queue.Key{Class: queue.Source, Namespace: "root", Name: name})
		}
		want := added{
			{Class: class.removed, Namespace: "leaf", Name: "ops"}: true, {Class: class.updated, Namespace: "leaf", Name: "updated"}: true,
			{Class: queue.Copy, Namespace: "leaf", Name: "written"}: true,
		}
		if !maps.Equal(enqueued, want) {
			t.Errorf("%s: enqueued are %v, want %v", kind.Kind, enqueued, want)
		}
		clear(enqueued)
		c.Cache.Read(func(s *cache.State) { c.objectChanged(s, 0, nil, s.Kind(0).Index.Get("leaf", "ops")) })
		if !enqueued[queue.Key{Class: class.removed, Namespace: "leaf", Name: "ops"}] {
			t.Errorf("%s: its change enqueues %v", kind.Kind, enqueued)
		}
		c.Cache.Read(func(s *cache.State) { c.objectChanged(s, 0, source(t, "leaf", "RoleBinding", "ops"), nil) })
		if kind == copies.Roles && enqueued[queue.Key{Class: queue.Copy, Namespace: "leaf", Name: "ops"}] {
			t.Errorf("the end of a RoleBinding that it awaited enqueues %v", enqueued)
		}
	}
}
