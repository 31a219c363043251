package quota

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

const (
	// probeInterval is the time between two probes.
	probeInterval = 50 * time.Millisecond
	// probeTimeout is how long probes are made. In a cluster that rejects them for another reason, such as an admission webhook that does not support dry
	// runs, the registration is regarded as effective after this time.
	probeTimeout = 10 * time.Second
	// replicasTime is what other replicas of kube-apiserver get to receive the registration after one of them applies it.
	replicasTime = time.Second
)

// registration is what is known about a registration of the webhook. kube-apiserver applies one only when an informer has brought it. What is created
// until then below a quota would be recorded without being reserved.
type registration struct {
	uid types.UID
	// since is when probes began, applied when a probe has found that kube-apiserver applies the registration.
	since, applied time.Time
	// effective is set when use is reserved.
	effective bool
}

// delay returns the time until a registration is regarded as effective, 0 if it is, and whether a probe is needed.
func (r *registration) delay(now time.Time) (delay time.Duration, probe bool) {
	if !r.applied.IsZero() {
		return max(0, r.applied.Add(replicasTime).Sub(now)), false
	}
	if now.Sub(r.since) >= probeTimeout {
		return 0, false
	}
	return probeInterval, true
}

// reserves reports whether kube-apiserver asks the webhook before it records use, as far as the quotas need that. The lock must be held.
func (c *Controller) reserves(s *cache.State) bool {
	return !registrationDue(s, c.config.Mode) || registered(s.QuotaWebhook) && c.registration.uid == s.QuotaWebhook.UID && c.registration.effective
}

// awaitRegistration finds out whether kube-apiserver applies the registration of the webhook, and has what waits for it reconciled then.
func (c *Controller) awaitRegistration(ctx context.Context) {
	var current registration
	var namespace string
	c.Cache.Read(func(s *cache.State) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.reserves(s) || !registered(s.QuotaWebhook) {
			return
		}
		if c.registration.uid != s.QuotaWebhook.UID {
			c.registration = registration{uid: s.QuotaWebhook.UID, since: time.Now()}
		}
		current, namespace = c.registration, probed(s)
	})
	if current.uid == "" {
		return
	}
	delay, probe := current.delay(time.Now())
	if probe && namespace != "" && c.probe(ctx, namespace) {
		current.applied = time.Now()
		delay = replicasTime
	}
	c.Cache.Read(func(s *cache.State) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.registration.uid != current.uid {
			return
		}
		current.effective = delay == 0
		if c.registration = current; !current.effective {
			return
		}
		if current.applied.IsZero() {
			klog.FromContext(ctx).Info("No probe could find out whether kube-apiserver applies the webhook of hierarchical quotas; it had the time to", "time", probeTimeout)
		}
		for name := range c.pending {
			c.Queue.Add(queue.Key{Class: queue.Quota, Namespace: name})
		}
		for q := range s.Quotas.Quotas() {
			c.enqueueStatus(q.Key)
		}
	})
	if delay > 0 {
		c.Queue.AddAfter(queue.Key{Class: queue.QuotaAdmission}, delay)
	}
}

// probed returns a namespace to make probes in, "" if there is none.
func probed(s *cache.State) string {
	for q := range s.Quotas.Quotas() {
		if ns := s.Tree.Namespace(q.Namespace); ns != nil && !ns.Terminating && !s.Tree.Excluded(q.Namespace) {
			return q.Namespace
		}
	}
	return ""
}

// probe reports whether kube-apiserver calls the webhooks of the registration: one of them rejects this dry run. If it cannot be reached, it rejects, too.
func (c *Controller) probe(ctx context.Context, namespace string) bool {
	_, err := c.Kubernetes.CoreV1().ResourceQuotas(namespace).Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: hnc.QuotaProbeName, Labels: map[string]string{hnc.LabelQuota: "true"},
	}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err != nil && strings.Contains(err.Error(), hnc.QuotaProbeWebhookName)
}
