package copies

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

func newController() *Controller {
	return New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, Config{Workers: 1, FailuresChanged: func() {}})
}

// track makes the kinds known and their indexes complete, in which there is nothing.
func track(t *testing.T, c *Controller, tracked ...copies.Kind) {
	t.Helper()
	c.Cache.Update(func(s *cache.State) {
		var wanted []kinds.WithPolicies
		for _, kind := range tracked {
			wanted = append(wanted, kinds.WithPolicies{Kind: kind, Policies: modes.Policies{Cluster: modes.Policy{Mode: v1beta1.Ignore}}})
		}
		c.Cache.SetKinds(t.Context(), s, wanted) // Ignored kinds are not watched.
		for i, kind := range tracked {
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

// added records the keys that are enqueued.
type added map[queue.Key]bool

func (a added) Add(key queue.Key) { a[key] = true }

func (a added) AddAfter(key queue.Key, _ time.Duration) { a[key] = true }

// A Role of its own makes the copy of a binding from above refer to something else.
func TestARoleEnqueuesTheCopiesThatReferToItInItsNamespace(t *testing.T) {
	c, enqueued := newController(), added{}
	c.Queue = enqueued
	track(t, c, copies.Kinds...)
	for _, name := range []string{"root", "leaf"} {
		c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}})
	}
	c.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: hnc.Singleton, ResourceVersion: "1"}, Spec: v1beta1.HierarchySpec{Parent: "root"},
	})
	rules := &copies.Rules{}
	role := func(namespace, annotation string) *copies.Object {
		return copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "ops", UID: types.UID(namespace), ResourceVersion: "1", Annotations: map[string]string{annotation: "true"}}}, copies.Roles, rules)
	}
	binding := func(namespace string, labels map[string]string) *copies.Object {
		return copies.NewRoleBinding(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "b", UID: types.UID(namespace), ResourceVersion: "1", Labels: labels},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "ops"},
		}, rules)
	}
	c.Cache.Update(func(s *cache.State) {
		roles, bindings := s.Kind(0).Index, s.Kind(1).Index
		bindings.Roles = roles
		roles.Set(role("root", hnc.AnnotationAllowOverride))
		roles.Set(role("leaf", hnc.AnnotationOverride))
		bindings.Set(binding("root", nil))
		bindings.Set(binding("leaf", map[string]string{hnc.LabelInheritedFrom: "root"}))
	})
	c.syncSource(queue.Key{Class: queue.Source, Kind: 0, Namespace: "leaf", Name: "ops"})
	if want := (queue.Key{Class: queue.Revocation, Kind: 1, Namespace: "leaf", Name: "b"}); !enqueued[want] {
		t.Errorf("enqueued are %v", enqueued)
	}
}

// Objects with such annotations can be anywhere, and have no effect there.
func TestInvalidAnnotationsAreReportedInTrees(t *testing.T) {
	f := newRoleFixture(t)
	f.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "alone", UID: "alone", ResourceVersion: "1"}})
	for i, row := range []struct {
		namespace, key string
		events         int
	}{
		{"root", hnc.AnnotationAll, 1},
		{"leaf", hnc.AnnotationAll, 0},
		{"alone", hnc.AnnotationAll, 0},
		{"root", hnc.AnnotationOverride, 1},
		{"leaf", hnc.AnnotationOverride, 1},
		{"alone", hnc.AnnotationOverride, 0},
	} {
		name := fmt.Sprint("role-", i)
		f.Cache.Update(func(s *cache.State) {
			s.Kind(0).Index.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: row.namespace, Name: name, UID: types.UID(name), ResourceVersion: "1", Annotations: map[string]string{row.key: "x"},
			}}, copies.Roles, &copies.Rules{}))
		})
		f.syncSource(queue.Key{Class: queue.Source, Kind: 0, Namespace: row.namespace, Name: name})
		if got := len(f.events.Events); got != row.events {
			t.Errorf("%s in %s: %d events, want %d", row.key, row.namespace, got, row.events)
		}
		for range len(f.events.Events) {
			<-f.events.Events
		}
	}
}

// An object may have copies all the same, or none for another reason.
func TestFinalizersAreReportedWhereTheyMatter(t *testing.T) {
	f := newRoleFixture(t)
	configMaps := copies.Kind{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap"}
	track(t, f.Controller, append(slices.Clone(copies.Kinds), configMaps)...)
	for _, test := range []struct {
		name, label string
		events      int
	}{{"a", "app", 1}, {"b", hnc.LabelRepositorySync, 0}, {"c", "skipped", 0}, {"kube-root-ca.crt", "app", 0}} {
		f.Cache.Update(func(s *cache.State) {
			s.Kind(2).Index.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: "root", Name: test.name, UID: types.UID(test.name), ResourceVersion: "1", Finalizers: []string{"a/b"}, Labels: map[string]string{test.label: "x"},
			}}, configMaps, &copies.Rules{Skipped: []labels.Selector{labels.SelectorFromSet(labels.Set{"skipped": "x"})}}))
		})
		f.syncSource(queue.Key{Class: queue.Source, Kind: 2, Namespace: "root", Name: test.name})
		if got := len(f.events.Events); got != test.events {
			t.Errorf("%s with label %s: %d events", test.name, test.label, got)
		}
		for len(f.events.Events) > 0 {
			<-f.events.Events
		}
	}
}

// One change of a Role may withhold any number of RoleBindings, and events about other trees wait for theirs.
func TestEventsAboutWithheldRoleBindingsHaveARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTurns(t, 1, 1)
		fake := record.NewFakeRecorder(2 * withheldBurst)
		c.events = eventRecorder{fake}
		c.Cache.Update(func(s *cache.State) {
			for _, root := range []string{"big", "small"} {
				s.Kind(0).Index.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
					Namespace: root, Name: "role-0000", UID: "other", ResourceVersion: "2", Annotations: map[string]string{hnc.AnnotationNone: "true"},
				}}, copies.Roles, &copies.Rules{}))
			}
		})
		emitted := func(tree string, n int) int {
			before := len(fake.Events)
			for range n {
				c.syncSource(queue.Key{Class: queue.Source, Kind: 1, Namespace: tree, Name: "role-0000"})
			}
			return len(fake.Events) - before
		}
		if n := emitted("big", 2*withheldBurst); n != withheldBurst/2 {
			t.Errorf("one tree has %d events", n)
		}
		if n := emitted("small", 10); n != 10 {
			t.Errorf("another one has %d of 10 events", n)
		}
		time.Sleep(time.Second)
		if n := emitted("big", 2*withheldBurst); n != withheldPerSecond/2 {
			t.Errorf("a second later, the tree has %d events", n)
		}
	})
}
