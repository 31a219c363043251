package quota

import (
	"k8s.io/component-base/metrics"

	shared "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// quotaMetrics are the metrics of quotas. None has a label for the quota: there may be as many as namespaces.
type quotaMetrics struct {
	pending, exceeded *metrics.Gauge
}

func newMetrics(m *shared.Metrics) *quotaMetrics {
	return shared.Registered(m, "quota", createMetrics)
}

func createMetrics() (*quotaMetrics, []metrics.Registerable) {
	q := &quotaMetrics{
		pending: metrics.NewGauge(&metrics.GaugeOpts{
			Name:           "hns_quota_pending_namespaces",
			Help:           "Namespaces whose ResourceQuotas do not enforce the hierarchical quotas yet.",
			StabilityLevel: metrics.ALPHA,
		}),
		exceeded: metrics.NewGauge(&metrics.GaugeOpts{
			Name:           "hns_quota_exceeded",
			Help:           "Hierarchical quotas whose use exceeds a limit.",
			StabilityLevel: metrics.ALPHA,
		}),
	}
	return q, []metrics.Registerable{q.pending, q.exceeded}
}
