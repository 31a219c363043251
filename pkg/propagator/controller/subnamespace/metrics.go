package subnamespace

import (
	"k8s.io/component-base/metrics"

	shared "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// newCreationSeconds returns the registered metric of how long it takes until a sub-namespace is usable.
func newCreationSeconds(m *shared.Metrics) *metrics.Histogram {
	return shared.Registered(m, "subnamespace", func() (*metrics.Histogram, []metrics.Registerable) {
		h := metrics.NewHistogram(&metrics.HistogramOpts{
			Name:           "hns_subnamespace_creation_seconds",
			Help:           "Time from observing a Subnamespace until its namespace had everything that it inherits.",
			Buckets:        metrics.ExponentialBuckets(0.001, 4, 10),
			StabilityLevel: metrics.ALPHA,
		})
		return h, []metrics.Registerable{h}
	})
}
