package quota

import (
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// ignored is a queue whose keys nobody reconciles.
type ignored struct{ keys []queue.Key }

func (q *ignored) Add(key queue.Key)                       { q.keys = append(q.keys, key) }
func (q *ignored) AddAfter(key queue.Key, _ time.Duration) { q.keys = append(q.keys, key) }

func TestNothingIsLimitedBeforeTheWebhookIsApplied(t *testing.T) {
	var applied bool
	var probes, written int
	kube := fake.NewClientset()
	kube.PrependReactor("create", "resourcequotas", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		create := action.(clientgotesting.CreateActionImpl)
		if len(create.CreateOptions.DryRun) == 0 {
			written++
			return false, nil, nil
		}
		probes++
		if applied {
			return true, nil, &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden,
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: hnc.CauseQuotaProbe}}}}}
		}
		return true, create.Object, nil
	})
	kube.PrependReactor("create", "validatingwebhookconfigurations", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		created := action.(clientgotesting.CreateAction).GetObject().(*admissionv1.ValidatingWebhookConfiguration)
		created.UID, created.ResourceVersion = "w", "3"
		return true, created, nil
	})
	q := &ignored{}
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: kube, Queue: q,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}
	c := New(d, Config{Mode: Reserve})
	d.Cache.Update(func(s *cache.State) { s.AddEventHandlers(c.Handlers()) })
	d.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a", ResourceVersion: "1"}})
	d.Cache.ObserveQuota(&v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "q", UID: "q", ResourceVersion: "2"},
		Spec:       v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(pods("5"))},
	})
	reconcile := func(want int) {
		t.Helper()
		for _, key := range []queue.Key{{Class: queue.Quota, Namespace: "a"}, {Class: queue.QuotaAdmission}, {Class: queue.Quota, Namespace: "a"}} {
			if err := c.Reconcile(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		if written != want {
			t.Errorf("%d ResourceQuotas written, want %d", written, want)
		}
	}
	reconcile(0)
	if probes == 0 {
		t.Error("the webhook is registered, and no probe was made")
	}
	applied = true
	reconcile(0)
	if c.webhook.registration.applied.IsZero() {
		t.Error("the rejection does not show that the webhook is applied")
	}
	// Other replicas of kube-apiserver get some time.
	c.webhook.registration.applied = c.webhook.registration.applied.Add(-replicasTime)
	q.keys = nil
	reconcile(1)
	if probes != 2 {
		t.Errorf("%d probes, want 2", probes)
	}
}

func TestRegistrationIsRegardedAsEffective(t *testing.T) {
	start := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		applied, now time.Duration
		delay        time.Duration
		probe        bool
	}{
		"at first":                        {-1, 0, probeInterval, true},
		"while no probe is rejected":      {-1, probeTimeout - 1, probeInterval, true},
		"without a rejection":             {-1, probeTimeout, 0, false},
		"just after a rejection":          {time.Second, time.Second, replicasTime, false},
		"when others had time":            {time.Second, time.Second + replicasTime, 0, false},
		"a rejection just before the end": {probeTimeout - 1, probeTimeout, replicasTime - 1, false},
	} {
		r := registration{since: start}
		if test.applied >= 0 {
			r.applied = start.Add(test.applied)
		}
		if delay, probe := r.delay(start.Add(test.now)); delay != test.delay || probe != test.probe {
			t.Errorf("%s: %s %v, want %s %v", name, delay, probe, test.delay, test.probe)
		}
	}
}
