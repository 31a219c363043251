package fence

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var lostFences = metrics.NewCounter(&metrics.CounterOpts{
	Name:           "hns_fence_lost_total",
	Help:           "Writes to the tree that were evaluated again because an ancestor moved in the meantime.",
	StabilityLevel: metrics.ALPHA,
})

// RegisterMetrics registers the metrics of this package. Further calls do nothing.
func RegisterMetrics() {
	// The only error is that the metric is registered already.
	_ = legacyregistry.Register(lostFences)
}
