package copies

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	shared "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// objectMetrics are the metrics of sources and copies.
type objectMetrics struct {
	*shared.Metrics
	lag        *metrics.HistogramVec
	overwrites *metrics.CounterVec
	// The others are HNC's. Source: docs/spec/hnc.md 5.2.
	objects, objectWrites, objectOverwrites *metrics.GaugeVec
	peak                                    *shared.Peak
}

func newMetrics(m *shared.Metrics) *objectMetrics {
	return shared.Registered(m, "copies", func() (*objectMetrics, []metrics.Registerable) { return createMetrics(m) })
}

func createMetrics(m *shared.Metrics) (*objectMetrics, []metrics.Registerable) {
	label := []string{"GroupKind"}
	o := &objectMetrics{
		Metrics: m,
		lag: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Name:           "hns_propagation_lag_seconds",
			Help:           "Time from observing the change of a source until its last copy was written, by kind.",
			Buckets:        metrics.ExponentialBuckets(0.001, 4, 10),
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind"}),
		overwrites: metrics.NewCounterVec(&metrics.CounterOpts{
			Name:           "hns_propagation_overwrites_total",
			Help:           "Local objects that were overwritten by the source of an ancestor, by kind.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind"}),
		objects:          metrics.NewGaugeVec(shared.LegacyGauge("reconcilers_object_total", "Reconciliations of sources and copies."), label),
		objectWrites:     metrics.NewGaugeVec(shared.LegacyGauge("reconcilers_object_writes_total", "Writes of copies."), label),
		objectOverwrites: metrics.NewGaugeVec(shared.LegacyGauge("reconcilers_object_overwrites_total", "Local objects that were overwritten by the source of an ancestor."), label),
		peak: shared.NewPeak(shared.LegacyGauge("reconcilers_object_concurrent_peak",
			"Highest concurrency of these reconciliations within the last minute."), label),
	}
	return o, []metrics.Registerable{o.lag, o.overwrites, o.objects, o.objectWrites, o.objectOverwrites, o.peak}
}

// reconciling counts the reconciliation of an object, which lasts until the result is called.
func (o *objectMetrics) reconciling(kind schema.GroupKind) (done func()) {
	k := o.LegacyKind(kind)
	o.objects.WithLabelValues(k).Inc()
	return o.peak.Begin(k)
}

// wrote counts a write of a copy.
func (o *objectMetrics) wrote(kind schema.GroupKind, verb copies.Verb, result string) {
	o.WriteCopy(kind.Kind, string(verb), result)
	if result == shared.Done {
		o.objectWrites.WithLabelValues(o.LegacyKind(kind)).Inc()
	}
}

// overwrote counts a local object that was overwritten.
func (o *objectMetrics) overwrote(kind schema.GroupKind) {
	o.overwrites.WithLabelValues(kind.Kind).Inc()
	o.objectOverwrites.WithLabelValues(o.LegacyKind(kind)).Inc()
}

// propagated records how long it took until the last copy of a changed source was written.
func (o *objectMetrics) propagated(kind string, d time.Duration) {
	o.lag.WithLabelValues(kind).Observe(d.Seconds())
}
