package gateway

import (
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/metrics"
)

// Metrics are what a Gateway counts of the requests of all views. They have no labels of tenants, of whom there can be
// many. A nil Metrics counts nothing.
type Metrics struct {
	duration   *metrics.HistogramVec
	streams    *metrics.Gauge
	rejections *metrics.CounterVec
}

// NewMetrics returns metrics that are registered.
func NewMetrics(register func(...metrics.Registerable)) *Metrics {
	m := &Metrics{
		duration: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Name: "hns_view_request_duration_seconds", Help: "How long requests of views take, without watches and other streams, by verb.",
			Buckets: metrics.ExponentialBuckets(0.001, 4, 8), StabilityLevel: metrics.ALPHA,
		}, []string{"verb"}),
		streams: metrics.NewGauge(&metrics.GaugeOpts{
			Name: "hns_view_streams", Help: "Watches, logs, shells and other streams of views that are served.", StabilityLevel: metrics.ALPHA,
		}),
		rejections: metrics.NewCounterVec(&metrics.CounterOpts{
			Name: "hns_view_rejections_total", Help: "Requests of views that were answered with 429, or ended, because of a limit: requests, streams, bodies, responses or documents.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"limit"}),
	}
	register(m.duration, m.streams, m.rejections)
	return m
}

// verbs are the values of the label verb, besides "other": of requests for no resource, the verb is the client's
// method.
var verbs = sets.New("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")

// begin counts a request that is served until release is called.
func (m *Metrics) begin(verb string, stream bool, release func()) func() {
	if m == nil {
		return release
	}
	if stream {
		m.streams.Inc()
		return func() { m.streams.Dec(); release() }
	}
	if !verbs.Has(verb) {
		verb = "other"
	}
	start := time.Now()
	return func() { m.duration.WithLabelValues(verb).Observe(time.Since(start).Seconds()); release() }
}

// rejected counts a request that exceeds a limit, if it does.
func (m *Metrics) rejected(limit string, err error) {
	if m != nil && err != nil {
		m.rejections.WithLabelValues(limit).Inc()
	}
}
