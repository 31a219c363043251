package quota

import (
	"context"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// registrar registers the webhook while quotas need it, and finds out when kube-apiserver applies the registration.
type registrar struct {
	controller.Dependencies
	mode Mode
	// effective is called when use is reserved.
	effective func(*cache.State)
	// registering lets one worker at a time write the registration.
	registering sync.Mutex

	// mu guards what follows. The cache and the controller may be locked before it, never after it.
	mu           sync.Mutex
	registration registration
}

func (r *registrar) enqueue() { r.Queue.Add(queue.Key{Class: queue.QuotaAdmission}) }

// reconcile registers the webhook, or removes it, and probes the registration.
func (r *registrar) reconcile(ctx context.Context) error {
	if err := r.register(ctx); err != nil {
		return err
	}
	r.await(ctx)
	return nil
}

// reserves reports whether kube-apiserver asks the webhook before it records use, as far as the quotas need that.
func (r *registrar) reserves(s *cache.State) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !registrationDue(s, r.mode) || registered(s.QuotaWebhook) && r.registration.uid == s.QuotaWebhook.UID && r.registration.effective
}

// await finds out whether kube-apiserver applies the registration, and tries again later if it does not. Only one
// worker calls it at a time, because there is one key for it in the queue.
func (r *registrar) await(ctx context.Context) {
	var current registration
	var namespace string
	r.Cache.Read(func(s *cache.State) {
		if r.reserves(s) || !registered(s.QuotaWebhook) {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.registration.uid != s.QuotaWebhook.UID {
			r.registration = registration{uid: s.QuotaWebhook.UID, since: time.Now()}
		}
		current, namespace = r.registration, probed(s)
	})
	if current.uid == "" {
		return
	}
	delay, probe := current.delay(time.Now())
	if probe && namespace != "" && r.probe(ctx, namespace) {
		current.applied, delay = time.Now(), replicasTime
	}
	current.effective = delay == 0
	r.mu.Lock()
	r.registration = current
	r.mu.Unlock()
	if !current.effective {
		r.Queue.AddAfter(queue.Key{Class: queue.QuotaAdmission}, delay)
		return
	}
	if current.applied.IsZero() {
		klog.FromContext(ctx).Info("No probe was rejected by the webhook of hierarchical quotas; it is regarded as effective", "after", probeTimeout)
	}
	r.Cache.Read(r.effective)
}

// register makes the registration of the webhook what it has to be.
func (r *registrar) register(ctx context.Context) error {
	r.registering.Lock()
	defer r.registering.Unlock()
	var due bool
	var present *admissionv1.ValidatingWebhookConfiguration
	r.Cache.Read(func(s *cache.State) { due, present = registrationDue(s, r.mode), s.QuotaWebhook })
	client := r.Kubernetes.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	var verb string
	var written *admissionv1.ValidatingWebhookConfiguration
	var err error
	switch {
	case due && present == nil:
		verb = "create"
		written, err = client.Create(ctx, &admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: hnc.QuotaWebhookName, Labels: labels}, Webhooks: webhooks(),
		}, metav1.CreateOptions{})
	case due && !registered(present):
		verb = "update"
		wanted := present.DeepCopy()
		wanted.Labels, wanted.Webhooks = labels, webhooks()
		written, err = client.Update(ctx, wanted, metav1.UpdateOptions{})
	case !due && present != nil:
		// The watch brings what follows.
		err = client.Delete(ctx, hnc.QuotaWebhookName, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &present.UID}})
		return outcome.Record(r.Metrics, "ValidatingWebhookConfiguration", "delete", "", err, nil)
	default:
		return nil
	}
	return outcome.Record(r.Metrics, "ValidatingWebhookConfiguration", verb, "", err, func() { r.Cache.ObserveQuotaWebhook(written) })
}
