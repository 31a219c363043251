// Package metrics holds the metrics that controllers share. Those of a single controller are in its package.
//
// Metrics whose names HNC gave are gauges, although their names end with _total. Source: docs/spec/hnc.md 5.2.
package metrics

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
)

// Done is the result of a write that was made.
const Done = "done"

// Register registers metrics; legacyregistry.MustRegister and a KubeRegistry's MustRegister are such functions.
type Register func(...metrics.Registerable)

// Metrics are the shared metrics. The zero value is not usable.
type Metrics struct {
	register Register
	// once holds the metrics of controllers by name.
	once sync.Map

	suppressKinds bool
	writes        *metrics.CounterVec
	queue         *metrics.GaugeVec
	namespaces    *metrics.Gauge
	leading       *metrics.Gauge
	paused        *metrics.Gauge
	// The others are HNC's.
	hierarchyWrites, namespaceWrites *metrics.Gauge
	reconciled                       *metrics.GaugeVec
	reconciledPeak                   *Peak
}

// New returns metrics that are registered. HNC's metrics have no label for the kind if suppressKinds is set.
func New(register Register, suppressKinds bool) *Metrics {
	m := &Metrics{
		register:      register,
		suppressKinds: suppressKinds,
		writes: metrics.NewCounterVec(&metrics.CounterOpts{
			Name:           "hns_propagation_writes_total",
			Help:           "Writes by kind, verb, and result: done, stale (based on an outdated cache, retried), refused or failed.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "verb", "result"}),
		queue: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Name:           "hns_propagation_queue_length",
			Help:           "Queued work by class.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"class"}),
		namespaces: metrics.NewGauge(&metrics.GaugeOpts{
			Name:           "hns_forest_namespaces",
			Help:           "Namespaces in the cache.",
			StabilityLevel: metrics.ALPHA,
		}),
		leading: metrics.NewGauge(&metrics.GaugeOpts{
			Name:           "hns_propagator_leading",
			Help:           "1 while this replica writes.",
			StabilityLevel: metrics.ALPHA,
		}),
		paused: metrics.NewGauge(&metrics.GaugeOpts{
			Name:           "hns_propagation_paused",
			Help:           "1 while nothing is propagated because the store and the cluster appear to come from different backups, as after a restore.",
			StabilityLevel: metrics.ALPHA,
		}),
		hierarchyWrites: metrics.NewGauge(LegacyGauge("reconcilers_hierconfig_hierconfig_writes_total", "Writes of hierarchies.")),
		namespaceWrites: metrics.NewGauge(LegacyGauge("reconcilers_hierconfig_namespace_writes_total", "Writes of namespaces.")),
		reconciled: metrics.NewGaugeVec(LegacyGauge("reconcilers_hierconfig_total",
			"Reconciliations of namespaces, their hierarchies and sub-namespaces."), nil),
		reconciledPeak: NewPeak(LegacyGauge("reconcilers_hierconfig_concurrent_peak",
			"Highest concurrency of these reconciliations within the last minute."), nil),
	}
	register(m.writes, m.queue, m.namespaces, m.leading, m.paused, m.hierarchyWrites, m.namespaceWrites, m.reconciled, m.reconciledPeak)
	m.reconciled.WithLabelValues().Set(0)
	m.reconciledPeak.Begin()()
	return m
}

// Registered returns the metrics of a controller. It creates and registers them when it is called for the first time
// with that name: several controllers, one after the other, have the same metrics.
func Registered[T any](m *Metrics, name string, create func() (T, []metrics.Registerable)) T {
	if known, ok := m.once.Load(name); ok {
		return known.(T)
	}
	created, all := create()
	m.register(all...)
	m.once.Store(name, created)
	return created
}

// LegacyGauge returns the options of a gauge that HNC had.
func LegacyGauge(name, help string) *metrics.GaugeOpts {
	return &metrics.GaugeOpts{Name: "hnc_" + name, Help: help, StabilityLevel: metrics.ALPHA}
}

// LegacyKind returns the value of the label GroupKind of HNC's metrics.
func (m *Metrics) LegacyKind(kind schema.GroupKind) string {
	if m.suppressKinds {
		return ""
	}
	return kind.String()
}

// Write counts a write.
func (m *Metrics) Write(kind, verb, result string) {
	m.writes.WithLabelValues(kind, verb, result).Inc()
	switch {
	case result != Done:
	case kind == "Hierarchy":
		m.hierarchyWrites.Inc()
	case kind == "Namespace":
		m.namespaceWrites.Inc()
	}
}

// WriteCopy counts a write of a copy, of any kind.
func (m *Metrics) WriteCopy(kind, verb, result string) {
	m.writes.WithLabelValues(kind, verb, result).Inc()
}

// Reconciling counts a reconciliation of a namespace, a Hierarchy or a Subnamespace, which lasts until the result is
// called.
func (m *Metrics) Reconciling() (done func()) {
	m.reconciled.WithLabelValues().Inc()
	return m.reconciledPeak.Begin()
}

// QueueLength records how much work of a class is queued.
func (m *Metrics) QueueLength(class string, length int) {
	m.queue.WithLabelValues(class).Set(float64(length))
}

// Namespaces records how many namespaces the cache has.
func (m *Metrics) Namespaces(n int) { m.namespaces.Set(float64(n)) }

// Leading records whether this replica writes.
func (m *Metrics) Leading(leading bool) {
	if leading {
		m.leading.Set(1)
	} else {
		m.leading.Set(0)
	}
}

// Paused records whether nothing is propagated although this replica leads.
func (m *Metrics) Paused(paused bool) {
	if paused {
		m.paused.Set(1)
	} else {
		m.paused.Set(0)
	}
}
