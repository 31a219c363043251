// Package metricstest reads metrics in tests.
package metricstest

import (
	"fmt"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics"
)

// Gauges returns the gauges of a registry with a prefix, as "name{label=value} number" in order.
func Gauges(t *testing.T, registry metrics.KubeRegistry, prefix string) []string {
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
