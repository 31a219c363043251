package reposync

import (
	"time"

	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/writer"
)

// Metrics are the metrics of all RepositorySyncs. The label sync is the name of one.
type Metrics struct {
	leading  *metrics.Gauge
	synced   *metrics.GaugeVec
	writes   *metrics.CounterVec
	drifts   *metrics.CounterVec
	failed   *metrics.GaugeVec
	duration *metrics.HistogramVec
}

// NewMetrics returns metrics that are registered.
func NewMetrics(register func(...metrics.Registerable)) *Metrics {
	labels := []string{"sync"}
	m := &Metrics{
		leading: metrics.NewGauge(&metrics.GaugeOpts{
			Name: "hns_sync_leading", Help: "1 while this replica applies repositories, with or without leader election.", StabilityLevel: metrics.ALPHA,
		}),
		synced: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Name: "hns_sync_synced", Help: "1 while the cluster is as the last commit says.", StabilityLevel: metrics.ALPHA,
		}, labels),
		writes: metrics.NewCounterVec(&metrics.CounterOpts{
			Name: "hns_sync_writes_total", Help: "Requests that write objects, by operation (apply, delete, release) and result (done, failed).", StabilityLevel: metrics.ALPHA,
		}, []string{"sync", "operation", "result"}),
		drifts: metrics.NewCounterVec(&metrics.CounterOpts{
			Name: "hns_sync_drift_total", Help: "Objects that another client had changed or deleted, and that were applied again.", StabilityLevel: metrics.ALPHA,
		}, labels),
		failed: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Name: "hns_sync_failed_objects", Help: "Objects that could not be applied or deleted in the last attempt.", StabilityLevel: metrics.ALPHA,
		}, labels),
		duration: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Name: "hns_sync_duration_seconds", Help: "How long synchronizations take, including those that write nothing.",
			Buckets: metrics.ExponentialBuckets(0.01, 4, 8), StabilityLevel: metrics.ALPHA,
		}, labels),
	}
	register(m.leading, m.synced, m.writes, m.drifts, m.failed, m.duration)
	return m
}

func (m *Metrics) write(sync string, operation writer.Operation, err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	m.writes.WithLabelValues(sync, string(operation), result).Inc()
}

func (m *Metrics) drift(sync string) { m.drifts.WithLabelValues(sync).Inc() }

func (m *Metrics) observe(sync string, done *outcome, took time.Duration) {
	synced := 0.0
	if done.reason == hnc.ReasonSynced {
		synced = 1
	}
	m.synced.WithLabelValues(sync).Set(synced)
	m.failed.WithLabelValues(sync).Set(float64(done.failures))
	m.duration.WithLabelValues(sync).Observe(took.Seconds())
}

// forget drops the metrics of a deleted RepositorySync.
func (m *Metrics) forget(sync string) {
	labels := map[string]string{"sync": sync}
	m.synced.Delete(labels)
	m.drifts.Delete(labels)
	m.failed.Delete(labels)
	m.duration.Delete(labels)
	for _, operation := range []writer.Operation{writer.Apply, writer.Delete, writer.Release} {
		for _, result := range []string{"done", "failed"} {
			m.writes.Delete(map[string]string{"sync": sync, "operation": string(operation), "result": result})
		}
	}
}
