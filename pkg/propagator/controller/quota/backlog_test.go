package quota

import (
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
	"k8s.io/apimachinery/pkg/util/sets"
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
func newCounting(t *testing.T) *counting {
	c := &counting{t: t, refused: map[string]bool{}}
	kube := fake.NewClientset()
	kube.PrependReactor("create", "resourcequotas", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		o := action.(clientgotesting.CreateAction).GetObject().(*corev1.ResourceQuota).DeepCopy()
		if c.refused[o.Namespace] {
			return true, nil, apierrors.NewForbidden(corev1.Resource("resourcequotas"), o.Name, nil)
		}
		o.UID, o.ResourceVersion = types.UID(o.Namespace), c.next()
		c.written, c.uncounted = append(c.written, o), append(c.uncounted, o)
		return true, o, nil
	})
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: kube, Events: &record.FakeRecorder{},
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
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
	c.limit("big")
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

// limit creates a quota.
func (c *counting) limit(namespace string) {
	c.Cache.ObserveQuota(&v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "q", UID: types.UID(namespace), ResourceVersion: c.next()},
		Spec:       v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(pods("5"))},
	})
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
			if err := c.Reconcile(c.t.Context(), key); (err != nil) != c.refused[key.Namespace] {
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

// delete deletes a namespace with its ResourceQuota.
func (c *counting) delete(name string) {
	c.uncounted = slices.DeleteFunc(c.uncounted, func(o *corev1.ResourceQuota) bool { return o.Namespace == name })
	c.Cache.Update(func(s *cache.State) {
		if old := s.Quotas.DeleteObject(quotas.Key{Namespace: name, Name: hnc.ResourceQuotaName}, types.UID(name)); old != nil {
			c.Handlers().QuotaObjectChanged(s, old, nil)
		}
		c.Handlers().TreeChanged(s, s.Tree.DeleteNamespace(name, types.UID(name)))
	})
}

func TestATreeDoesNotFillTheQueueOfKubeControllerManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		c.lead()
		c.reconcile("at first", maxUncounted)
		c.limit("small")
		c.reconcile("in another tree", 1)
		c.namespace("big-new", "big", map[string]string{hnc.AnnotationLimitsPending: "uid"})
		if written := c.reconcile("in a new sub-namespace", 1); !slices.Contains(written, "big-new") {
			t.Errorf("%s is written", written)
		}
		c.count(30)
		c.reconcile("after 30 are counted", 30)
		for len(c.uncounted) > 0 {
			c.count(1)
			c.reconcile("after another one is counted", min(1, 153-len(c.written)))
		}
		if len(c.written) != 153 || len(c.backlog) > 0 {
			t.Errorf("%d are written, and the backlog is %v", len(c.written), c.backlog)
		}
	})
}

func TestWhatIsNeverCountedDelaysItsTreeForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		c.lead()
		c.reconcile("at first", maxUncounted)
		time.Sleep(countTimeout - time.Second)
		c.reconcile("a second before the timeout", 0)
		time.Sleep(releasePeriod + time.Second)
		c.reconcile("after the timeout", 51)
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
		for i := range maxUncounted {
			c.Cache.ObserveResourceQuota(&corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: fmt.Sprint("big-", i), Name: hnc.ResourceQuotaName, ResourceVersion: c.next(), UID: "uid", Annotations: map[string]string{hnc.AnnotationNone: "true"},
				},
				Spec: corev1.ResourceQuotaSpec{Hard: pods("5")},
			})
		}
		c.lead()
		c.reconcile("at first", 0)
	})
}

func TestWhatIsDeletedOrMovedIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounting(t)
		c.lead()
		c.reconcile("at first", maxUncounted)
		c.limit("small")
		c.reconcile("in another tree", 1)
		waiting := sets.List(c.backlog[share{root: "big"}].waiting.Clone().Delete("big"))
		c.move(waiting[0], "small")
		if written := c.reconcile("below the other root", 1); !slices.Contains(written, waiting[0]) {
			t.Errorf("%s is written", written)
		}
		c.delete(waiting[1])
		for _, o := range c.written[:10] {
			c.delete(o.Namespace)
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
		if len(c.backlog) > 0 {
			t.Errorf("the backlog is %v", c.backlog)
		}
	})
}
