package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics/metricstest"
)

// The other rows of docs/spec/hnc.md 5.2 are tested with the controllers that own the metrics.
func TestTheMetricsThatHNCHad(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	m := New(registry.MustRegister, false)
	one, two := m.Reconciling(), m.Reconciling()
	one()
	two()
	m.Write("Hierarchy", "patch", Done)
	m.Write("Namespace", "patch", Done)
	m.Write("Namespace", "patch", Done)
	m.Write("Namespace", "patch", "stale")
	m.WriteCopy("Namespace", "patch", Done)
	want := []string{
		"hnc_reconcilers_hierconfig_concurrent_peak{} 2",
		"hnc_reconcilers_hierconfig_hierconfig_writes_total{} 1",
		"hnc_reconcilers_hierconfig_namespace_writes_total{} 2",
		"hnc_reconcilers_hierconfig_total{} 2",
	}
	if got := metricstest.Gauges(t, registry, "hnc_reconcilers_"); !slices.Equal(got, want) {
		t.Errorf("5.2: got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAPeakCountsForAMinute(t *testing.T) {
	now := time.Unix(1000, 0)
	p := NewPeak(&metrics.GaugeOpts{Name: "p"}, nil)
	p.now = func() time.Time { return now }
	registry := metrics.NewKubeRegistry()
	registry.MustRegister(p)
	for _, step := range []struct {
		pass time.Duration
		do   func()
		want string
	}{
		{0, func() { p.Begin()() }, "p{} 1"},
		{0, func() { a, b, c := p.Begin(), p.Begin(), p.Begin(); a(); b(); c() }, "p{} 3"},
		{59 * time.Second, func() {}, "p{} 3"},
		{time.Second, func() { p.Begin(); p.Begin()() }, "p{} 2"},
		{time.Minute, func() {}, "p{} 1"}, // the one that has not ended
	} {
		now = now.Add(step.pass)
		step.do()
		if got := metricstest.Gauges(t, registry, "p"); !slices.Equal(got, []string{step.want}) {
			t.Errorf("%v, want %s", got, step.want)
		}
	}
}
