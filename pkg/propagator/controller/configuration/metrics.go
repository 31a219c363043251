package configuration

import (
	"k8s.io/component-base/metrics"

	shared "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// newConditions registers the metric of namespaces with conditions, which HNC had, and returns a function that sets it.
// Source: docs/spec/hnc.md 5.2.
func newConditions(m *shared.Metrics) func(conditionType, reason string, namespaces int) {
	gauge := shared.Registered(m, "configuration", func() (*metrics.GaugeVec, []metrics.Registerable) {
		gauge := metrics.NewGaugeVec(shared.LegacyGauge("namespace_conditions",
			"Namespaces that have a condition, by its type and reason, in the cache of the leading replica."), []string{"Condition", "Reason"})
		return gauge, []metrics.Registerable{gauge}
	})
	gauge.Reset()
	return func(conditionType, reason string, namespaces int) {
		gauge.WithLabelValues(conditionType, reason).Set(float64(namespaces))
	}
}
