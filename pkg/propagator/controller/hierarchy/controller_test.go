package hierarchy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// fixture is a controller whose cache is filled by hand. Writes reach a fake clientset and come back to the cache.
type fixture struct {
	*Controller
	t          *testing.T
	client     *fake.Clientset
	version    int
	clock      time.Time
	delays     []time.Duration
	conditions []string
	// padding makes each Hierarchy large.
	padding string
	// unchanged reports that patches change nothing.
	unchanged bool
}

func (f *fixture) Add(queue.Key) { f.delays = append(f.delays, 0) }

func (f *fixture) AddAfter(_ queue.Key, d time.Duration) { f.delays = append(f.delays, d) }

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, client: fake.NewSimpleClientset(), clock: time.Unix(1000, 0)}
	f.Controller = New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Hierarchy: f.client, Queue: f,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, time.Second, func(namespace string, conditions []metav1.Condition) {
		f.conditions = nil
		for _, c := range conditions {
			f.conditions = append(f.conditions, namespace+" "+c.Reason)
		}
	})
	f.childLists.Now = func() time.Time { return f.clock }
	f.creations.Now = f.childLists.Now
	f.client.PrependReactor("patch", "hierarchies", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		patch := action.(clientgotesting.PatchAction)
		h := &v1beta1.Hierarchy{}
		f.Cache.Read(func(s *cache.State) {
			known := s.Tree.Hierarchy(action.GetNamespace())
			h.Namespace, h.Name, h.UID, h.Generation, h.ResourceVersion = known.Namespace, hnc.Singleton, known.UID, known.Generation, known.ResourceVersion
			h.Spec.Parent, h.Status = known.Parent, known.Status
		})
		err := json.Unmarshal(patch.GetPatch(), h)
		if !f.unchanged {
			h.ResourceVersion = f.next()
		}
		h.Annotations = map[string]string{"example.com/padding": f.padding}
		return true, h, err
	})
	f.Cache.Update(func(s *cache.State) { s.AddEventHandlers(f.Handlers()) })
	return f
}

func (f *fixture) next() string {
	f.version++
	return fmt.Sprint(f.version)
}

func (f *fixture) namespace(name string) {
	f.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: f.next()}})
}

func (f *fixture) parent(namespace, parent string) {
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton, UID: "h", Generation: 1, ResourceVersion: f.next()}}
	f.Cache.Read(func(s *cache.State) {
		if known := s.Tree.Hierarchy(namespace); known != nil {
			h.Status = known.Status
		}
	})
	h.Spec.Parent = parent
	f.Cache.ObserveHierarchy(h)
}

// reconcile reconciles a namespace, and returns what was written: children and reasons, "" for nothing.
func (f *fixture) reconcile(namespace string) string {
	f.t.Helper()
	f.client.ClearActions()
	f.delays = nil
	if err := f.Reconcile(f.t.Context(), queue.Key{Class: queue.Status, Namespace: namespace}); err != nil {
		f.t.Fatal(err)
	}
	written := ""
	for _, action := range f.client.Actions() {
		switch action := action.(type) {
		case clientgotesting.CreateAction:
			written += "created"
		case clientgotesting.PatchAction:
			var h v1beta1.Hierarchy
			if err := json.Unmarshal(action.GetPatch(), &h); err != nil {
				f.t.Fatal(err)
			}
			written += fmt.Sprint(h.Status.Children)
			for _, c := range h.Status.Details() {
				written += " " + c.Reason
			}
		}
	}
	return written
}

func (f *fixture) want(what, got, want string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestGrowingListOfChildrenIsWrittenAfterACooldown(t *testing.T) {
	f := newFixture(t)
	f.namespace("root")
	f.parent("root", "")
	f.namespace("first")
	f.parent("first", "root")
	f.want("first write", f.reconcile("root"), "[first] Ready")

	f.namespace("last")
	f.parent("last", "root")
	f.clock = f.clock.Add(time.Second)
	f.want("during the cooldown", f.reconcile("root"), "")
	if !slices.Equal(f.delays, []time.Duration{9 * time.Second}) {
		t.Errorf("it is enqueued after %v, want the rest of the cooldown", f.delays)
	}
	f.clock = f.clock.Add(9 * time.Second)
	f.want("after the cooldown", f.reconcile("root"), "[first last] Ready")
	f.want("again", f.reconcile("root"), "")
}

func TestConditionsAreWrittenDuringTheCooldownOfTheChildren(t *testing.T) {
	f := newFixture(t)
	f.namespace("root")
	f.parent("root", "")
	f.namespace("child")
	f.parent("child", "root")
	f.want("first write", f.reconcile("root"), "[child] Ready")
	f.namespace("delayed")
	f.parent("delayed", "root")
	f.want("during the cooldown", f.reconcile("root"), "")
	f.parent("root", "missing")
	f.want("a condition, with all children", f.reconcile("root"), "[child delayed] ParentMissing ParentMissing")
}

// A tenant makes a Hierarchy large, and has its status change again and again.
func TestStatusOfALargeHierarchyIsDelayed(t *testing.T) {
	f := newFixture(t)
	f.large.Now = f.childLists.Now
	f.namespace("root")
	parents := []string{"missing", "other"}
	for i := range 8 {
		f.parent("root", parents[i%2])
		f.want("a small one", f.reconcile("root"), "[] ParentMissing ParentMissing")
	}
	f.padding = strings.Repeat("x", 4<<20)
	for i := range 8 {
		f.parent("root", parents[i%2])
		if f.reconcile("root") == "" {
			return
		}
	}
	t.Error("any number of large statuses is written at once")
}

// Only what is stored counts, and for its own tree.
func TestLargeHierarchiesDelayThoseOfTheirTree(t *testing.T) {
	f := newFixture(t)
	for namespace, parent := range map[string]string{"root": "", "child": "root", "other": ""} {
		f.namespace(namespace)
		f.parent(namespace, parent)
	}
	f.padding = strings.Repeat("x", 4<<20)
	adopt := func(namespace string) time.Duration {
		t.Helper()
		var h *tree.Hierarchy
		f.Cache.Read(func(s *cache.State) { h = s.Tree.Hierarchy(namespace) })
		if err := f.Adopt(t.Context(), h, &tree.Subnamespace{}, false, true); err != nil {
			t.Fatal(err)
		}
		return f.Delay(namespace)
	}
	f.unchanged = true
	for range 8 {
		if delay := adopt("root"); delay > 0 {
			t.Fatalf("a patch that changes nothing delays the next one by %s", delay)
		}
	}
	f.unchanged = false
	for range 8 {
		adopt("root")
	}
	if delay := adopt("child"); delay < 30*time.Second {
		t.Errorf("in the same tree, the next write is delayed by %s", delay)
	}
	if delay := adopt("other"); delay > 5*time.Second {
		t.Errorf("in another tree, the next write is delayed by %s", delay)
	}
}

// The window is a second, so a short list may be written every ten seconds, and a long one every fifty.
func TestStatusWithManyChildrenIsWrittenRarely(t *testing.T) {
	f := newFixture(t)
	f.namespace("root")
	f.parent("root", "")
	grow := func(from, to int) {
		for i := from; i < to; i++ {
			name := fmt.Sprintf("child-%04d", i)
			f.namespace(name)
			f.parent(name, "root")
		}
	}
	// writes reconciles each second, and returns in which seconds that writes.
	second := 0
	writes := func(each func(second int)) (written []int) {
		for end := second + 120; second < end; second++ {
			each(second)
			if f.reconcile("root") != "" {
				written = append(written, second)
			}
			f.clock = f.clock.Add(time.Second)
		}
		return written
	}
	grow(0, manyChildren-200)
	f.want("a short list", fmt.Sprint(writes(func(s int) { grow(manyChildren-200+s, manyChildren-199+s) })),
		"[0 10 20 30 40 50 60 70 80 90 100 110]")
	grow(manyChildren-80, manyChildren+1)
	f.want("a long list", fmt.Sprint(writes(func(s int) { grow(manyChildren+s, manyChildren+1+s) })), "[120 170 220]")
	parents := []string{"missing", "", "other"}
	f.want("a long list whose conditions change", fmt.Sprint(writes(func(s int) { f.parent("root", parents[s%3]) })), "[270 320]")
	f.clock = f.clock.Add(time.Minute)
	f.parent("root", "third")
	if got := f.reconcile("root"); !strings.HasSuffix(got, "] ParentMissing ParentMissing") {
		t.Errorf("a condition after a minute: %.60q", got)
	}
}

// A client that applies a namespace and then its Hierarchy must be able to create the latter.
func TestHierarchyIsNotCreatedWhereANamespaceHasJustAppeared(t *testing.T) {
	f := newFixture(t)
	f.namespace("child")
	f.parent("child", "root")
	f.namespace("root")
	f.want("at once", f.reconcile("root"), "")
	f.clock = f.clock.Add(20 * time.Second)
	f.want("later", f.reconcile("root"), "created")
}

func TestConditionsOfANamespaceArePassedOn(t *testing.T) {
	f := newFixture(t)
	f.namespace("a")
	f.parent("a", "")
	f.reconcile("a")
	f.want("without a problem", fmt.Sprint(f.conditions), "[]")
	f.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: hnc.Singleton, UID: "h", ResourceVersion: f.next()},
		// The pair that HNC did not count (docs/spec/hnc.md 3.12, step 7).
		Spec: v1beta1.HierarchySpec{Labels: []v1beta1.MetaKVP{{Key: "example.com/x", Value: "1"}}},
	})
	f.reconcile("a")
	f.want("with a problem", fmt.Sprint(f.conditions), "[a IllegalManagedLabel]")
	f.Cache.Update(func(s *cache.State) { s.Tree.DeleteNamespace("a", "a") })
	f.reconcile("a")
	f.want("after the namespace is gone", fmt.Sprint(f.conditions), "[]")
}

// The write is made, its answer is lost, and what would correct it is undone before the next attempt: so the cache
// looks right.
func TestStatusIsReadAgainAfterALostAnswer(t *testing.T) {
	f := newFixture(t)
	f.namespace("root")
	f.parent("root", "")
	f.want("first write", f.reconcile("root"), "[] Ready")
	f.namespace("child")
	f.parent("child", "root")
	lost := true
	f.client.PrependReactor("patch", "hierarchies", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return lost, nil, apierrors.NewTimeoutError("the answer is lost", 0)
	})
	if err := f.Reconcile(t.Context(), queue.Key{Class: queue.Status, Namespace: "root"}); err == nil {
		t.Fatal("no error")
	}
	lost = false
	f.parent("child", "")
	f.client.PrependReactor("get", "hierarchies", func(clientgotesting.Action) (bool, runtime.Object, error) {
		h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "root", Name: hnc.Singleton, UID: "h", Generation: 1, ResourceVersion: f.next()}}
		f.Cache.Read(func(s *cache.State) { h.Status = s.Tree.Hierarchy("root").Status })
		h.Status.Children = []string{"child"}
		return true, h, nil
	})
	f.want("the next attempt", f.reconcile("root"), "[] Ready")
	f.want("again", f.reconcile("root"), "")
}
