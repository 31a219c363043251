// Package metrics holds the metrics of the propagator.
package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
)

// Metrics are the propagator's metrics. The zero value is not usable.
type Metrics struct {
	writes     *metrics.CounterVec
	overwrites *metrics.CounterVec
	lag        *metrics.HistogramVec
	queue      *metrics.GaugeVec
	created    *metrics.Histogram
	namespaces *metrics.Gauge
	leading    *metrics.Gauge
	former     *former
}

// Done is the result of a write that was made.
const Done = "done"

// Register registers metrics; legacyregistry.MustRegister and a KubeRegistry's MustRegister are such functions.
type Register func(...metrics.Registerable)

// New returns metrics that are registered. Those that HNC had tell kinds apart unless suppressObjectTags is set.
func New(register Register, suppressObjectTags bool) *Metrics {
	m := &Metrics{
		writes: metrics.NewCounterVec(&metrics.CounterOpts{
			Name:           "hnc_propagation_writes_total",
			Help:           "Writes by kind, verb, and result: done, stale (decided on an outdated picture, repeated), refused or failed.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "verb", "result"}),
		overwrites: metrics.NewCounterVec(&metrics.CounterOpts{
			Name:           "hnc_propagation_overwrites_total",
			Help:           "Local objects that were overwritten by the source of an ancestor, by kind.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind"}),
		lag: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Name:           "hnc_propagation_lag_seconds",
			Help:           "Time from seeing a source's change until its last copy was written, by kind.",
			Buckets:        metrics.ExponentialBuckets(0.001, 4, 10),
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind"}),
		queue: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Name:           "hnc_propagation_queue_length",
			Help:           "Waiting work by class.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"class"}),
		created: metrics.NewHistogram(&metrics.HistogramOpts{
			Name:           "hnc_subnamespace_creation_seconds",
			Help:           "Time from seeing a Subnamespace until its namespace had all that it inherits.",
			Buckets:        metrics.ExponentialBuckets(0.001, 4, 10),
			StabilityLevel: metrics.ALPHA,
		}),
		namespaces: metrics.NewGauge(&metrics.GaugeOpts{
			Name:           "hnc_forest_namespaces",
			Help:           "Namespaces that are known.",
			StabilityLevel: metrics.ALPHA,
		}),
		leading: metrics.NewGauge(&metrics.GaugeOpts{
			Name:           "hnc_propagator_leading",
			Help:           "1 while this replica writes.",
			StabilityLevel: metrics.ALPHA,
		}),
	}
	register(m.writes, m.overwrites, m.lag, m.queue, m.created, m.namespaces, m.leading)
	m.former = newFormer(register, suppressObjectTags)
	return m
}

// Write counts a write of something else than a copy.
func (m *Metrics) Write(kind, verb, result string) {
	m.writes.WithLabelValues(kind, verb, result).Inc()
	switch {
	case result != Done:
	case kind == "Hierarchy":
		m.former.hierarchyWrites.Inc()
	case kind == "Namespace":
		m.former.namespaceWrites.Inc()
	}
}

// WriteCopy counts a write of a copy.
func (m *Metrics) WriteCopy(kind schema.GroupKind, verb, result string) {
	m.writes.WithLabelValues(kind.Kind, verb, result).Inc()
	if result == Done {
		m.former.objectWrites.WithLabelValues(m.former.tag(kind)).Inc()
	}
}

// Overwrite counts a local object that was overwritten.
func (m *Metrics) Overwrite(kind schema.GroupKind) {
	m.overwrites.WithLabelValues(kind.Kind).Inc()
	m.former.objectOverwrites.WithLabelValues(m.former.tag(kind)).Inc()
}

// Lag records how long it took until the last copy of a changed source was written.
func (m *Metrics) Lag(kind string, d time.Duration) {
	m.lag.WithLabelValues(kind).Observe(d.Seconds())
}

// Created records how long it took until a sub-namespace was usable.
func (m *Metrics) Created(d time.Duration) { m.created.Observe(d.Seconds()) }

// QueueLength records how much work of a class waits.
func (m *Metrics) QueueLength(class string, length int) {
	m.queue.WithLabelValues(class).Set(float64(length))
}

// Namespaces records how many namespaces are known.
func (m *Metrics) Namespaces(n int) { m.namespaces.Set(float64(n)) }

// Leading records whether this replica writes.
func (m *Metrics) Leading(leading bool) {
	if leading {
		m.leading.Set(1)
	} else {
		m.leading.Set(0)
	}
}
