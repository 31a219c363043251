package reservations

import (
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var (
	batches = metrics.NewHistogram(&metrics.HistogramOpts{
		Namespace: "hns", Subsystem: "quota", Name: "transaction_duration_seconds",
		Help:           "Time to evaluate and commit one transaction of reservations of hierarchical quotas, repetitions included.",
		Buckets:        metrics.ExponentialBuckets(0.0005, 2, 15),
		StabilityLevel: metrics.ALPHA,
	})
	operations = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "hns", Subsystem: "quota", Name: "operations_total",
		Help:           "Number of reservations and other changes of the recorded use of hierarchical quotas.",
		StabilityLevel: metrics.ALPHA,
	})
	rejections = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "hns", Subsystem: "quota", Name: "rejections_total",
		Help:           "Number of reservations that would have exceeded a hierarchical quota.",
		StabilityLevel: metrics.ALPHA,
	})
	recomputations = metrics.NewCounter(&metrics.CounterOpts{
		Namespace: "hns", Subsystem: "quota", Name: "sums_total",
		Help:           "Number of times that the use of a subtree was summed up because the subtree or its quotas had changed.",
		StabilityLevel: metrics.ALPHA,
	})
)

// RegisterMetrics registers the metrics of this package.
// Further calls do nothing.
func RegisterMetrics() {
	for _, metric := range []metrics.Registerable{batches, operations, rejections, recomputations} {
		// The only error is that the metric is registered already.
		_ = legacyregistry.Register(metric)
	}
}

func observeBatch(start time.Time, n int) {
	batches.Observe(time.Since(start).Seconds())
	operations.Add(float64(n))
}
