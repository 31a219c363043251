package copies

import (
	"errors"
	"testing"

	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	shared "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// If both wrote, the one that fails would discard the only record of the content.
func TestAnObjectIsOverwrittenByOneWriteAtATime(t *testing.T) {
	c := &Controller{
		Dependencies: controller.Dependencies{Metrics: shared.New(metrics.NewKubeRegistry().MustRegister, true)},
		slots:        make(chan struct{}, 1), backups: newBackups(nil, nil),
	}
	c.metrics = newMetrics(c.Metrics)
	w := copies.Write{Verb: copies.Update, Kind: copies.Kinds[0], Namespace: "leaf", Name: "role", Source: &copies.Object{}, Present: &copies.Object{}}
	done, err := c.backups.begin(w)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(t.Context(), c.slots, 0, w); !errors.Is(err, outcome.ErrStale) {
		t.Errorf("while another write overwrites it: got %v", err)
	}
	other := w
	other.Namespace = "another"
	otherDone, err := c.backups.begin(other)
	if err != nil {
		t.Errorf("another object: %v", err)
	}
	otherDone()
	done()
	if _, err := c.backups.begin(w); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
