package quota

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

const (
	// probeInterval is the time between two probes.
	probeInterval = 50 * time.Millisecond
	// probeTimeout is how long probes are made. While our API server cannot be reached, or in a cluster that rejects
	// them for another reason, such as an admission webhook that does not support dry runs, the registration is
	// regarded as effective after this time.
	probeTimeout = 10 * time.Second
	// replicasTime is what other replicas of kube-apiserver get to receive the registration after one of them applies
	// it.
	replicasTime = time.Second
)

// registration is what is known about a registration of the webhook. kube-apiserver applies one only when an informer
// has brought it. What is created until then below a quota would be recorded without being reserved.
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

// probed returns a namespace to make probes in, "" if there is none.
func probed(s *cache.State) string {
	for q := range s.Quotas.Quotas() {
		if ns := s.Tree.Namespace(q.Namespace); ns != nil && !ns.Terminating && !s.Tree.Excluded(q.Namespace) {
			return q.Namespace
		}
	}
	return ""
}

// probe reports whether kube-apiserver calls the webhooks of the registration: one of them rejects this dry run.
func (r *registrar) probe(ctx context.Context, namespace string) bool {
	_, err := r.Kubernetes.CoreV1().ResourceQuotas(namespace).Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: hnc.QuotaProbeName, Labels: map[string]string{hnc.LabelQuota: "true"},
	}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return apierrors.HasStatusCause(err, hnc.CauseQuotaProbe)
}
