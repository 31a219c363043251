package configuration

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics/metricstest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// counter is a queue that counts.
type counter int

func (c *counter) Add(queue.Key) { *c++ }

func (c *counter) AddAfter(queue.Key, time.Duration) { *c++ }

func TestStatusIsEnqueuedOnceWhenTheConditionsOfANamespaceChange(t *testing.T) {
	var enqueued counter
	c := New(controller.Dependencies{
		Queue: &enqueued, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, Config{Window: time.Second})
	halted := []metav1.Condition{{Type: "ActivitiesHalted", Reason: "InCycle"}}
	for _, step := range []struct {
		what       string
		conditions []metav1.Condition
		want       counter
	}{
		{"no condition", nil, 0}, {"a condition", halted, 1}, {"the same", halted, 0}, {"the namespace is gone", nil, 1},
	} {
		enqueued, c.due = 0, time.Time{}
		c.ObserveConditions("a", step.conditions)
		if enqueued != step.want {
			t.Errorf("%s: enqueued %d times, want %d", step.what, enqueued, step.want)
		}
	}
	c.ObserveConditions("b", halted)
	if c.ObserveConditions("c", halted); enqueued != 1 {
		t.Errorf("enqueued %d times while it waits", enqueued)
	}
}

// delays is a queue that records delays.
type delays []time.Duration

func (d *delays) Add(queue.Key) {}

func (d *delays) AddAfter(_ queue.Key, delay time.Duration) { *d = append(*d, delay) }

func TestTheNumbersOfObjectsDelayNothingElse(t *testing.T) {
	var queued delays
	c := New(controller.Dependencies{
		Queue: &queued, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}, Config{Window: time.Second})
	handlers := c.Handlers()
	handlers.ObjectChanged(nil, 0, nil, nil)
	handlers.KindChanged(nil, 0)
	handlers.ObjectChanged(nil, 0, nil, nil)
	if want := (delays{5 * time.Second, time.Second}); !slices.Equal(queued, want) {
		t.Errorf("queued after %v, want %v", queued, want)
	}
}

func TestTheMetricOfConditionsThatHNCHad(t *testing.T) {
	registry := componentmetrics.NewKubeRegistry()
	newConditions(metrics.New(registry.MustRegister, false))("ActivitiesHalted", "InCycle", 3)
	want := []string{"hnc_namespace_conditions{Condition=ActivitiesHalted,Reason=InCycle} 3"}
	if got := metricstest.Gauges(t, registry, "hnc_namespace_"); !slices.Equal(got, want) {
		t.Errorf("5.2: got %v, want %v", got, want)
	}
}
