package subnamespace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/namespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// delayed are the keys that are enqueued, and when.
type delayed map[queue.Key]time.Duration

func (d delayed) Add(key queue.Key) { d[key] = 0 }

func (d delayed) AddAfter(key queue.Key, delay time.Duration) { d[key] = delay }

// paced is a controller, and what it writes about the sub-namespace c of p, whose Subnamespace and Hierarchy are large.
type paced struct {
	*Controller
	*objects
	t        *testing.T
	key      queue.Key
	enqueued delayed
	core     *fake.Clientset
	client   *hncfake.Clientset
	version  int
}

func newPaced(t *testing.T) *paced {
	f := &paced{
		t: t, key: queue.Key{Class: queue.Subnamespace, Namespace: "p", Name: "c"}, objects: newObjects(), enqueued: delayed{},
		core: fake.NewClientset(), client: hncfake.NewSimpleClientset(), version: 100,
	}
	f.p.DeletionTimestamp, f.c.Labels = nil, nil
	large := map[string]string{"large": strings.Repeat("x", 1<<20)}
	f.subnamespace.Annotations, f.hierarchyC.Annotations = large, large
	f.core.PrependReactor("*", "namespaces", f.numbered(f.core.Tracker()))
	f.client.PrependReactor("*", "*", f.numbered(f.client.Tracker()))
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: treetest.Rules()}), Kubernetes: f.core, Hierarchy: f.client, Urgent: f.enqueued, Queue: f.enqueued,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}
	f.Controller = New(d, Controllers{
		Namespaces: namespace.New(d, nil), Hierarchies: hierarchy.New(d, time.Second, func(string, []metav1.Condition) {}), Copies: copies.New(d, copies.Config{Workers: 1}),
	}, false)
	for _, ns := range []*corev1.Namespace{f.p, f.c} {
		f.add(f.core.Tracker().Add(ns))
		d.Cache.ObserveNamespace(ns)
	}
	f.add(f.client.Tracker().Create(v1beta1.SchemeGroupVersion.WithResource("hierarchies"), f.hierarchyC, "c"))
	f.add(f.client.Tracker().Add(f.subnamespace))
	d.Cache.ObserveHierarchy(f.hierarchyC)
	d.Cache.ObserveSubnamespace(f.subnamespace)
	return f
}

func (f *paced) add(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// numbered gives what is written a version, as servers do.
func (f *paced) numbered(tracker clientgotesting.ObjectTracker) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		_, o, err := clientgotesting.ObjectReaction(tracker)(action)
		if verb := action.GetVerb(); err == nil && (verb == "create" || verb == "patch") {
			accessor, failed := meta.Accessor(o)
			f.add(failed)
			accessor.SetResourceVersion(f.next())
			f.add(tracker.Update(action.GetResource(), o, action.GetNamespace()))
		}
		return true, o, err
	}
}

func (f *paced) next() string {
	f.version++
	return fmt.Sprint(f.version)
}

// reconcile reconciles the Subnamespace, and returns how many of its own and of the Hierarchy's patches that wrote.
func (f *paced) reconcile() (subnamespaces, hierarchies int) {
	f.t.Helper()
	f.client.ClearActions()
	delete(f.enqueued, f.key)
	f.add(f.Reconcile(f.t.Context(), f.key))
	for _, action := range f.client.Actions() {
		switch {
		case action.Matches("patch", "subnamespaces"), action.Matches("patch", "subnamespaces/status"):
			subnamespaces++
		case action.Matches("patch", "hierarchies"):
			hierarchies++
		}
	}
	return subnamespaces, hierarchies
}

// present returns the Subnamespace as the cache has it.
func (f *paced) present() (s *tree.Subnamespace) {
	f.Cache.Read(func(state *cache.State) { s = state.Tree.SubnamespaceRecord(tree.Key{Parent: "p", Name: "c"}) })
	return s
}

// label changes the labels that the Subnamespace asks for.
func (f *paced) label(value string) {
	s := f.subnamespace.DeepCopy()
	s.ResourceVersion, s.Status = f.next(), f.present().Status
	s.Spec.Labels = []v1beta1.MetaKVP{{Key: "m", Value: value}}
	f.Cache.ObserveSubnamespace(s)
}

// Each change of a namespace's annotations may be reported by all Subnamespaces of its name.
func TestReportsAboutLargeSubnamespacesArePaced(t *testing.T) {
	f := newPaced(t)
	s := f.subnamespace.DeepCopy()
	s.ResourceVersion, s.Annotations[hnc.AnnotationVoid] = f.next(), "true"
	f.Cache.ObserveSubnamespace(s)
	for f.pace.Written(time.Now(), "p", "", s) < time.Minute {
	}
	var written int
	for i := range 2 {
		ns := f.c.DeepCopy()
		ns.ResourceVersion, ns.Annotations = f.next(), map[string]string{hnc.AnnotationManagedBy: fmt.Sprint("tool-", i)}
		f.Cache.ObserveNamespace(ns)
		n, _ := f.reconcile()
		written += n
	}
	if written != 1 || f.enqueued[f.key] <= 0 {
		t.Errorf("%d reports were written, want one, and the next is due in %s", written, f.enqueued[f.key])
	}
}

// A small change of a Subnamespace writes the whole Hierarchy of its namespace.
func TestMetadataOfLargeHierarchiesIsPaced(t *testing.T) {
	f := newPaced(t)
	written := 0
	for i := range 40 {
		f.label(fmt.Sprint("v", i))
		_, n := f.reconcile()
		written += n
	}
	if delay := f.enqueued[f.key]; written < 8 || written > 20 || delay <= 0 {
		t.Errorf("a Hierarchy of a MiB was written %d times, want about as often as the burst of a tree allows; the next is due in %s", written, delay)
	}
}

func TestOnlyLargeWritesThatChangeLittleWait(t *testing.T) {
	f := newPaced(t)
	f.large.StartFor("p/c", time.Hour)
	for i := 0; f.Hierarchies.Delay("c") < 10*time.Second; i++ {
		f.label(fmt.Sprint("v", i))
		var h *tree.Hierarchy
		f.Cache.Read(func(s *cache.State) { h = s.Tree.Hierarchy("c") })
		f.add(f.Hierarchies.Adopt(t.Context(), h, f.present(), false, true))
	}
	s := f.present()
	for name, test := range map[string]struct {
		p    plan
		want bool
	}{
		"a report":                     {plan{action: report}, true},
		"new metadata":                 {plan{action: populate, setMetadata: true}, true},
		"a namespace without metadata": {plan{action: populate}, false},
		"one without a parent":         {plan{action: populate, setMetadata: true, setParent: true}, false},
		"one without its creator":      {plan{action: populate, setMetadata: true, creator: &rbacv1.RoleBinding{}}, false},
		"one without limits":           {plan{action: populate, setMetadata: true, unlimited: true}, false},
		"one that is created":          {plan{action: createNamespace, setParent: true}, false},
		"a Subnamespace that goes":     {plan{action: release}, false},
	} {
		test.p.status.State = s.Status.State
		if got := f.delay(s, test.p) > 0; got != test.want {
			t.Errorf("%s waits: %t", name, got)
		}
		test.p.status.State = v1beta1.SubnamespaceConflict
		if f.delay(s, test.p) > 0 {
			t.Errorf("%s waits, although the state changes", name)
		}
	}
}

// The Hierarchy of a ready sub-namespace may be deleted again and again.
func TestAStatusThatStaysTheSameIsNotWritten(t *testing.T) {
	f := newPaced(t)
	f.reconcile()
	ready := f.present()
	if !meta.IsStatusConditionTrue(ready.Status.Conditions, hnc.ConditionReady) {
		t.Fatalf("the status is %+v", ready.Status)
	}
	f.add(f.client.Tracker().Delete(v1beta1.SchemeGroupVersion.WithResource("hierarchies"), "c", hnc.Singleton))
	f.Cache.Update(func(s *cache.State) { s.Tree.DeleteHierarchy("c", f.hierarchyC.UID) })
	if n, _ := f.reconcile(); n != 0 {
		t.Errorf("the status was written %d times", n)
	}
	if _, err := f.client.HncV1beta1().Hierarchies("c").Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	// The namespace is gone, which is reported before it is created again. The status that follows is that of before.
	f.add(f.core.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("namespaces"), "", "c"))
	f.Cache.Update(func(s *cache.State) { s.Tree.DeleteNamespace("c", f.c.UID) })
	if n, _ := f.reconcile(); n != 2 || !meta.IsStatusConditionTrue(f.present().Status.Conditions, hnc.ConditionReady) {
		t.Errorf("after %d writes, the status is %+v", n, f.present().Status)
	}
}

// An admission policy of the cluster may refuse any number of sub-namespaces for ever.
func TestRefusedSubnamespacesAreTriedAgainAtThePaceOfTheirParentAndTree(t *testing.T) {
	f, tries, now := newPaced(t), 0, time.Now()
	f.refusals.Now, f.treeRefusals.Now = func() time.Time { return now }, func() time.Time { return now }
	f.core.PrependReactor("create", "namespaces", func(clientgotesting.Action) (bool, runtime.Object, error) {
		tries++
		return true, nil, apierrors.NewForbidden(corev1.Resource("namespaces"), "", fmt.Errorf("a policy refuses it"))
	})
	q := f.p.DeepCopy()
	q.Name, q.UID = "q", "uid-q"
	f.add(f.core.Tracker().Add(q))
	f.Cache.ObserveNamespace(q)
	for i, step := range []struct {
		name        string
		parent      *corev1.Namespace
		refusedFor  time.Duration
		generation  int64
		later       time.Duration
		tried, wait bool
	}{
		{"the first", f.p, time.Minute, 1, 0, true, false},
		{"another of its parent", f.p, time.Minute, 1, 0, false, true},
		{"one of another tree", q, time.Minute, 1, 0, true, false},
		{"one that has changed", f.p, time.Minute, 2, 0, true, false},
		{"one that was refused just now", f.p, time.Second, 1, 0, true, false},
		{"one of its tree", f.c, time.Minute, 1, 0, false, true},
		{"one of its tree, soon", f.c, time.Minute, 1, refusedTreePace, true, false},
		{"another of its parent, soon", f.p, time.Minute, 1, refusedTreePace, false, true},
		{"another of its parent, later", f.p, time.Minute, 1, refusedPace, true, false},
	} {
		now = now.Add(step.later)
		s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{
			Namespace: step.parent.Name, Name: fmt.Sprint("refused-", i), UID: types.UID(fmt.Sprint("r-", i)), ResourceVersion: f.next(), Generation: step.generation,
			Finalizers:      []string{hnc.FinalizerSubnamespace},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: step.parent.Name, UID: step.parent.UID}},
		}, Status: v1beta1.SubnamespaceStatus{State: v1beta1.SubnamespaceMissing, ObservedGeneration: 1, Conditions: []metav1.Condition{{
			Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: hnc.ReasonPropagationFailed, ObservedGeneration: 1,
			LastTransitionTime: metav1.NewTime(now.Add(-step.refusedFor)),
		}}}}
		f.add(f.client.Tracker().Add(s))
		f.Cache.ObserveSubnamespace(s)
		before, key := tries, queue.Key{Class: queue.Subnamespace, Namespace: s.Namespace, Name: s.Name}
		err := f.Reconcile(t.Context(), key)
		if tried := tries > before; tried != step.tried || tried != apierrors.IsForbidden(err) || (f.enqueued[key] >= refusedRetry) != step.wait {
			t.Errorf("%s: it was tried: %t, with the error %v; it is due in %s", step.name, tried, err, f.enqueued[key])
		}
	}
}

// A status may have been False for long before the namespace is rejected for the first time, such as by a policy that is new.
func TestRefusalsAreRetriedSoonForAWhileHoweverLongTheNamespaceWasMissing(t *testing.T) {
	f, tries, now := newPaced(t), 0, time.Unix(1000, 0)
	f.refusals.Now, f.treeRefusals.Now = func() time.Time { return now }, func() time.Time { return now }
	f.core.PrependReactor("create", "namespaces", func(clientgotesting.Action) (bool, runtime.Object, error) {
		tries++
		return true, nil, apierrors.NewForbidden(corev1.Resource("namespaces"), "", fmt.Errorf("a policy refuses it"))
	})
	s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{
		Namespace: "p", Name: "missing", UID: "uid-missing", ResourceVersion: f.next(), Generation: 1, Finalizers: []string{hnc.FinalizerSubnamespace},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "p", UID: f.p.UID}},
	}, Status: v1beta1.SubnamespaceStatus{State: v1beta1.SubnamespaceMissing, ObservedGeneration: 1, Conditions: []metav1.Condition{{
		Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: hnc.ReasonNamespaceMissing, ObservedGeneration: 1,
		LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
	}}}}
	f.add(f.client.Tracker().Add(s))
	f.Cache.ObserveSubnamespace(s)
	key := queue.Key{Class: queue.Subnamespace, Namespace: s.Namespace, Name: s.Name}
	for range 3 {
		f.refusedAgain("p")
		if err := f.Reconcile(t.Context(), key); !apierrors.IsForbidden(err) {
			t.Fatalf("after %d tries: got %v, want another one", tries, err)
		}
	}
	now = now.Add(refusedRetry)
	f.refusedAgain("p")
	if err := f.Reconcile(t.Context(), key); err != nil || tries != 3 {
		t.Errorf("after %s: got %v and %d tries, want none beyond 3", refusedRetry, err, tries)
	}
}
