package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
)

// gauges returns what a registry holds of the gauges with a prefix, as "name{label=value} number" in order.
func gauges(t *testing.T, registry metrics.KubeRegistry, prefix string) []string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, family := range families {
		if family.GetType() != dto.MetricType_GAUGE || !strings.HasPrefix(family.GetName(), prefix) {
			continue
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			got = append(got, fmt.Sprintf("%s{%s} %v", family.GetName(), strings.Join(labels, ","), m.GetGauge().GetValue()))
		}
	}
	return got
}

// TestTheMetricsThatHNCHad has the rows of spec/hnc.md 5.2.
func TestTheMetricsThatHNCHad(t *testing.T) {
	role := schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "Role"}
	for tag, suppress := range map[string]bool{"Role.rbac.authorization.k8s.io": false, "": true} {
		registry := metrics.NewKubeRegistry()
		m := New(registry.MustRegister, suppress)
		one, two := m.NamespaceWork(), m.NamespaceWork()
		one()
		two()
		m.ObjectWork(role)()
		m.ObjectWork(role)()
		m.Write("Hierarchy", "patch", Done)
		m.Write("Namespace", "patch", Done)
		m.Write("Namespace", "patch", Done)
		m.Write("Namespace", "patch", "stale")
		m.WriteCopy(role, "create", Done)
		m.WriteCopy(role, "update", Done)
		m.WriteCopy(role, "update", "failed")
		m.Overwrite(role)
		m.NamespaceConditions("ActivitiesHalted", "InCycle", 3)
		want := []string{
			"hnc_namespace_conditions{Condition=ActivitiesHalted,Reason=InCycle} 3",
			"hnc_reconcilers_hierconfig_concurrent_peak{} 2",
			"hnc_reconcilers_hierconfig_hierconfig_writes_total{} 1",
			"hnc_reconcilers_hierconfig_namespace_writes_total{} 2",
			"hnc_reconcilers_hierconfig_total{} 2",
			"hnc_reconcilers_object_concurrent_peak{GroupKind=" + tag + "} 1",
			"hnc_reconcilers_object_overwrites_total{GroupKind=" + tag + "} 1",
			"hnc_reconcilers_object_total{GroupKind=" + tag + "} 2",
			"hnc_reconcilers_object_writes_total{GroupKind=" + tag + "} 2",
		}
		got := append(gauges(t, registry, "hnc_namespace_"), gauges(t, registry, "hnc_reconcilers_")...)
		if !slices.Equal(got, want) {
			t.Errorf("5.2: got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestAPeakCountsForAMinute(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPeak(&metrics.GaugeOpts{Name: "p"}, nil)
	p.now = func() time.Time { return now }
	registry := metrics.NewKubeRegistry()
	registry.MustRegister(p)
	for _, step := range []struct {
		pass time.Duration
		do   func()
		want string
	}{
		{0, func() { p.begin()() }, "p{} 1"},
		{0, func() { a, b, c := p.begin(), p.begin(), p.begin(); a(); b(); c() }, "p{} 3"},
		{59 * time.Second, func() {}, "p{} 3"},
		{time.Second, func() { p.begin(); p.begin()() }, "p{} 2"},
		{time.Minute, func() {}, "p{} 1"}, // the one that has not ended
	} {
		now = now.Add(step.pass)
		step.do()
		if got := gauges(t, registry, "p"); !slices.Equal(got, []string{step.want}) {
			t.Errorf("%v, want %s", got, step.want)
		}
	}
}
