package treerules

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var edges = metrics.NewGauge(&metrics.GaugeOpts{
	Name:           "hns_tree_edges",
	Help:           "Namespaces that have a parent, in this replica's index of the tree.",
	StabilityLevel: metrics.ALPHA,
})

// RegisterMetrics registers the metrics of this package. Further calls do nothing.
func RegisterMetrics() {
	// The only error is that the metric is registered already.
	_ = legacyregistry.Register(edges)
}
