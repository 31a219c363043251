package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// counting is a controller in a cluster where the test counts ResourceQuotas.
type counting struct {
	*Controller
	t       *testing.T
	queue   queue.Queue
	version int
	// written are the ResourceQuotas in the order in which they were created, uncounted those that the test has not counted.
	written   []*corev1.ResourceQuota
	uncounted []*corev1.ResourceQuota
	// refused are the namespaces in which none can be created.
	refused map[string]bool
}

// newCounting returns one with the namespaces big-0 to big-149 below big, which has a quota, and a namespace small.
func newCounting(t *testing.T, adjust ...func(*controller.Dependencies)) *counting {
	c := &counting{t: t, refused: map[string]bool{}}
	kube := fake.NewClientset()
	kube.PrependReactor("create", "resourcequotas", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		o := action.(clientgotesting.CreateAction).GetObject().(*corev1.ResourceQuota).DeepCopy()
		if c.refused[o.Namespace] {
			return true, nil, apierrors.NewForbidden(corev1.Resource("resourcequotas"), o.Name, nil)
		}
		if o.UID = types.UID(o.Namespace); !c.DryRun {
			o.ResourceVersion = c.next()
		}
		c.written, c.uncounted = append(c.written, o), append(c.uncounted, o)
		return true, o, nil
	})
	kube.PrependReactor("patch", "resourcequotas", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		patch := action.(clientgotesting.PatchAction)
		present := c.written[slices.IndexFunc(c.written, func(o *corev1.ResourceQuota) bool {
			return o.Namespace == patch.GetNamespace() && o.Name == patch.GetName()
		})]
		o := present.DeepCopy()
		if err := json.Unmarshal(patch.GetPatch(), o); err != nil {
			return true, nil, err
		}
		o.ResourceVersion = c.next()
		c.uncounted = slices.DeleteFunc(c.uncounted, func(other *corev1.ResourceQuota) bool { return other.Namespace == o.Namespace && other.Name == o.Name })
		c.written, c.uncounted = append(c.written, o), append(c.uncounted, o)
		return true, o, nil
	})
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: kube, Events: &record.FakeRecorder{},
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}
	for _, f := range adjust {
		f(&d)
	}
	c.queue = queue.New(d.Cache.Root, nil)
	t.Cleanup(c.queue.ShutDown)
	d.Queue = c.queue
	c.Controller = New(d, Config{Mode: Eventual, Held: func(*cache.State, string) {}})
	c.namespace("big", "", nil)
	c.namespace("small", "", nil)
	for i := range 150 {
		c.namespace(fmt.Sprint("big-", i), "big", nil)
	}
	c.limit("big", "5")
	return c
}

// lead starts the controller.
func (c *counting) lead() {
	c.Cache.Update(func(s *cache.State) {
		s.AddEventHandlers(c.Handlers())
		c.Start(s)
	})
}

func (c *counting) next() string {
	c.version++
	return strconv.Itoa(c.version)
}

func (c *counting) namespace(name, parent string, annotations map[string]string) {
	c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: c.next(), Annotations: annotations}})
	c.move(name, parent)
}

// limit creates or changes a quota.
func (c *counting) limit(namespace, limit string, scopes ...corev1.ResourceQuotaScope) {
	version := c.next()
	c.Cache.ObserveQuota(&v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprint("q", len(scopes)), UID: types.UID(namespace), ResourceVersion: version, Generation: int64(c.version),
		},
		Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(pods(limit)), Scopes: scopes},
	})
}

// waiting are the namespaces that wait in big, the first one first.
func (c *counting) waiting() (namespaces []string) {
	for e := c.backlog.lines[share{root: "big"}].waiting.Front(); e != nil; e = e.Next() {
		namespaces = append(namespaces, e.Value.(string))
	}
	return namespaces
}

func (c *counting) move(name, parent string) {
	c.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: hnc.Singleton, UID: types.UID(name), ResourceVersion: c.next()},
		Spec:       v1beta1.HierarchySpec{Parent: parent},
	})
}

// reconcile reconciles everything that is due, and checks the number of ResourceQuotas that were written since.
func (c *counting) reconcile(what string, want int) (namespaces []string) {
	c.t.Helper()
	before := len(c.written)
	for synctest.Wait(); c.queue.Len() > 0; synctest.Wait() {
		key, _ := c.queue.Get()
		if key.Class == queue.Quota {
			if err := c.Reconcile(c.t.Context(), key); !errors.Is(err, outcome.ErrWaiting) && (err != nil) != c.refused[key.Namespace] {
				c.t.Error(err)
			}
		}
		c.queue.Done(key)
	}
	for _, o := range c.written[before:] {
		namespaces = append(namespaces, o.Namespace)
	}
	if len(namespaces) != want {
		c.t.Errorf("%s, %d ResourceQuotas are written, want %d", what, len(namespaces), want)
	}
	return namespaces
}

// count counts the first n ResourceQuotas that are not counted.
func (c *counting) count(n int) {
	for range n {
		o := c.uncounted[0]
		c.uncounted = c.uncounted[1:]
		o.ResourceVersion, o.Status.Hard = c.next(), o.Spec.Hard
		c.Cache.ObserveResourceQuota(o)
	}
}

// delete deletes a namespace with its ResourceQuota. Different watches bring that, in any order.
func (c *counting) delete(name string, namespaceFirst bool) {
	c.uncounted = slices.DeleteFunc(c.uncounted, func(o *corev1.ResourceQuota) bool { return o.Namespace == name })
	c.Cache.Update(func(s *cache.State) {
		if namespaceFirst {
			c.Handlers().TreeChanged(s, s.Tree.DeleteNamespace(name, types.UID(name)))
		}
		if old := s.Quotas.DeleteObject(quotas.Key{Namespace: name, Name: hnc.ResourceQuotaName}, types.UID(name)); old != nil {
			c.Handlers().QuotaObjectChanged(s, old, nil)
		}
		if !namespaceFirst {
			c.Handlers().TreeChanged(s, s.Tree.DeleteNamespace(name, types.UID(name)))
		}
	})
}

// leading calls f with a controller that leads, and has written as many ResourceQuotas of big as it may.
func leading(t *testing.T, f func(*counting)) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		c.lead()
		c.reconcile("at first", maxUncounted)
		f(c)
	})
}

func TestATreeDoesNotFillTheQueueOfKubeControllerManager(t *testing.T) {
	leading(t, func(c *counting) {
		c.limit("small", "5")
		c.reconcile("in another tree", 1)
		for i := range maxUncounted + 1 {
			c.namespace(fmt.Sprint("new-", i), "big", map[string]string{hnc.AnnotationLimitsPending: "uid"})
		}
		c.reconcile("in new sub-namespaces", maxUncounted)
		for i := range maxUncounted + 1 {
			c.namespace(fmt.Sprint("new-", i), "big", nil)
		}
		c.reconcile("after their limits are not pending", 0)
		c.count(30)
		c.reconcile("after 30 are counted", 30)
		for range 21 {
			c.count(1)
			c.reconcile("after another one is counted", 1)
		}
		c.count(len(c.uncounted))
		c.reconcile("after all are counted", 1)
		c.count(1)
		if len(c.written) != 253 {
			c.t.Errorf("%d are written", len(c.written))
		}
		c.empty()
	})
}

// empty checks that nothing is remembered.
func (c *counting) empty() {
	c.t.Helper()
	if b := c.backlog; len(b.lines)+len(b.awaited)+len(b.late)+len(b.places) > 0 {
		c.t.Errorf("the backlog is %v", b)
	}
}

func TestResourceQuotasOfSeveralScopesCountEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		c.limit("big", "5", corev1.ResourceQuotaScopeBestEffort)
		c.lead()
		c.reconcile("at first", maxUncounted)
		c.count(10)
		c.reconcile("after 10 are counted", 10)
	})
}

// A change of use changes the limits of all others.
func TestLimitsThatFollowUseAreWrittenAsTheyAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		c.lead()
		for c.reconcile("at first", maxUncounted); len(c.uncounted) > 0; c.reconcile("after all are counted", 151-len(c.written)) {
			c.count(len(c.uncounted))
		}
		for use := range 3 {
			user := c.written[0].DeepCopy()
			user.Spec.Hard, user.Status.Hard, user.Status.Used = pods("5"), pods("5"), pods(strconv.Itoa(use+1))
			user.ResourceVersion = c.next()
			c.Cache.ObserveResourceQuota(user)
			c.Cache.Read(func(s *cache.State) { c.enqueueSubtree(s, "big") })
			c.reconcile("after some is used", maxUncounted)
			c.count(maxUncounted)
			c.reconcile("after those are counted", 50)
			c.count(50)
			c.reconcile("after all are counted", 0)
		}
		c.empty()
	})
}

func TestAPreviewWritesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t, func(d *controller.Dependencies) { d.DryRun = true })
		c.lead()
		c.reconcile("at first", 151)
		c.empty()
	})
}

// It may be a namespace without ResourceQuotas, to which no limit applies.
func TestWhatWaitsLongestIsWrittenFirst(t *testing.T) {
	leading(t, func(c *counting) {
		want := c.waiting()
		for i := range want {
			c.limit("big", strconv.Itoa(6+i)) // All are enqueued again.
			c.count(1)
			written := c.reconcile("after another one is counted", maxUncounted) // Those that are awaited do not wait again.
			written = slices.DeleteFunc(written, func(name string) bool { return !slices.Contains(want[i:], name) })
			if !slices.Equal(written, want[i:i+1]) {
				c.t.Fatalf("%s is written, want %s", written, want[i])
			}
		}
	})
}

func TestWhatIsNeverCountedDelaysItsTreeForAWhile(t *testing.T) {
	leading(t, func(c *counting) {
		time.Sleep(countTimeout - time.Second)
		c.reconcile("a second before the timeout", 0)
		time.Sleep(releasePeriod + time.Second)
		written := c.reconcile("after the timeout", 51)
		c.uncounted = c.uncounted[maxUncounted:]
		c.count(51)
		c.reconcile("after the others are counted", 0)
		for i := range 3 {
			c.limit("big", strconv.Itoa(6+i))
			rewritten := c.reconcile("after a change", 151)
			for _, namespace := range written {
				if !slices.Contains(rewritten, namespace) {
					c.t.Errorf("%s waits", namespace)
				}
			}
			c.uncounted = slices.DeleteFunc(c.uncounted, func(o *corev1.ResourceQuota) bool { return !slices.Contains(written, o.Namespace) })
			c.count(51)
			c.reconcile("after the others are counted", 0)
		}
	})
}

// Quotas that are added while namespaces wait count when it is their turn.
func TestWhatWaitsTakesAsMuchRoomAsItNeeds(t *testing.T) {
	leading(t, func(c *counting) {
		c.limit("big", "5", corev1.ResourceQuotaScopeBestEffort)
		c.limit("big", "5", corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating)
		c.reconcile("of other scopes", 0)
		time.Sleep(countTimeout + releasePeriod)
		c.reconcile("three each", maxUncounted+2)
	})
}

// It would keep the place of one that is counted some time.
func TestWhatCannotBeWrittenIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		for i := range 60 {
			c.refused[fmt.Sprint("big-", i)] = true
		}
		c.lead()
		c.reconcile("where it is allowed", 151-60)
	})
}

// All of them are in the queue of kube-controller-manager already.
func TestANewLeaderAwaitsWhatIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		for i := range 150 {
			o := &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: fmt.Sprint("big-", i), Name: hnc.ResourceQuotaName, ResourceVersion: c.next(), UID: "uid", Annotations: map[string]string{hnc.AnnotationNone: "true"},
				},
				Spec: corev1.ResourceQuotaSpec{Hard: pods("5")},
			}
			c.uncounted = append(c.uncounted, o)
			c.Cache.ObserveResourceQuota(o)
		}
		c.lead()
		c.reconcile("at first", 0)
		c.count(50)
		c.reconcile("after 50 are counted", 0)
		c.count(1)
		c.reconcile("after 51 are counted", 1)
	})
}

func TestWhatIsDeletedOrMovedIsNotAwaited(t *testing.T) {
	leading(t, func(c *counting) {
		c.limit("small", "5")
		c.reconcile("in another tree", 1)
		waiting := slices.DeleteFunc(c.waiting(), func(name string) bool { return name == "big" })
		c.move(waiting[0], "small")
		if written := c.reconcile("below the other root", 1); !slices.Contains(written, waiting[0]) {
			c.t.Errorf("%s is written", written)
		}
		c.delete(waiting[1], false)
		for i, o := range c.written[:10] {
			c.delete(o.Namespace, i%2 == 0)
		}
		c.reconcile("instead of what is deleted", 10)
		c.move(c.written[10].Namespace, "small")
		for len(c.uncounted) > 0 {
			c.count(len(c.uncounted))
			c.reconcile("after all are counted", 152-1-len(c.written))
		}
		c.move("big", "small")
		time.Sleep(countTimeout + releasePeriod)
		c.reconcile("after a while", 0)
		c.empty()
	})
}
