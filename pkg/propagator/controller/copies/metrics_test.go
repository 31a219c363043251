package copies

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	shared "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics/metricstest"
)

func TestTheMetricsOfObjectsThatHNCHad(t *testing.T) {
	role := schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "Role"}
	for label, suppress := range map[string]bool{"Role.rbac.authorization.k8s.io": false, "": true} {
		registry := metrics.NewKubeRegistry()
		m := newMetrics(shared.New(registry.MustRegister, suppress))
		m.reconciling(role)()
		m.reconciling(role)()
		m.wrote(role, copies.Create, shared.Done)
		m.wrote(role, copies.Update, shared.Done)
		m.wrote(role, copies.Update, "failed")
		m.overwrote(role)
		want := []string{
			"hnc_reconcilers_object_concurrent_peak{GroupKind=" + label + "} 1",
			"hnc_reconcilers_object_overwrites_total{GroupKind=" + label + "} 1",
			"hnc_reconcilers_object_total{GroupKind=" + label + "} 2",
			"hnc_reconcilers_object_writes_total{GroupKind=" + label + "} 2",
		}
		if got := metricstest.Gauges(t, registry, "hnc_reconcilers_object_"); !slices.Equal(got, want) {
			t.Errorf("5.2: got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
