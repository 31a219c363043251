package propagator

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

func TestWhatDivergesWithoutAnEventIsEnqueued(t *testing.T) {
	m := newManager(t)
	missing := sets.New[queue.Key]()
	for _, namespace := range []string{"root", "left", "right"} {
		missing.Insert(queue.Key{Class: queue.Namespace, Namespace: namespace}, queue.Key{Class: queue.Status, Namespace: namespace})
		if namespace != "root" {
			missing.Insert(queue.Key{Class: queue.Destination, Namespace: namespace})
		}
	}
	all := missing.Clone()
	m.enqueueDivergent(t.Context())
	for missing.Len() > 0 {
		key, _ := m.bulk.Get() // waits for those that are added later
		m.bulk.Done(key)
		missing.Delete(key)
	}
	m.cache.Update(m.reconcileCache)
	m.enqueueDivergent(t.Context())
	for m.bulk.Len() > 0 {
		key, _ := m.bulk.Get()
		m.bulk.Done(key)
		if all.Has(key) {
			t.Errorf("%v is enqueued although it does not diverge", key)
		}
	}
}

func TestALeaderRepairsWhatNoEventHasAnnounced(t *testing.T) {
	m := newManager(t)
	m.resyncPeriod = 10 * time.Millisecond
	for _, class := range []queue.Class{queue.Source, queue.Destination, queue.Copy} {
		m.reconcileClass[class] = func(context.Context, queue.Key) error { return nil }
	}
	leading, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		m.Lead(leading)
	}()
	defer func() {
		stop()
		<-stopped
	}()
	children := func(namespace string) []string {
		h, err := m.Hierarchy.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return nil
		}
		return h.Status.Children
	}
	await := func(namespace string, want ...string) {
		t.Helper()
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			return slices.Equal(children(namespace), want), nil
		})
		if err != nil {
			t.Fatalf("the children of %s are %v, want %v", namespace, children(namespace), want)
		}
	}
	await("root", "left", "right") // It leads.
	// A change that nothing is said to be affected by.
	m.cache.Update(func(s *cache.State) {
		s.Tree.SetNamespace(&tree.Namespace{Name: "below", UID: "below", ResourceVersion: "2"})
		s.Tree.SetHierarchy(&tree.Hierarchy{Namespace: "below", UID: "below", ResourceVersion: "2", Parent: "left"})
	})
	await("left", "below")
}
