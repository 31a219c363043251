package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
)

// former are the metrics under the names that HNC gave them. They are all gauges, whatever their names say. Source: spec/hnc.md 5.2.
type former struct {
	// suppress leaves the label GroupKind empty.
	suppress                         bool
	hierarchyWrites, namespaceWrites *metrics.Gauge
	objectWrites, objectOverwrites   *metrics.GaugeVec
	namespaceWork, objectWork        *metrics.GaugeVec
	namespacePeak, objectPeak        *peak
	conditions                       *metrics.GaugeVec
}

const groupKind = "GroupKind"

func newFormer(register Register, suppress bool) *former {
	gauge := func(name, help string) *metrics.GaugeOpts {
		return &metrics.GaugeOpts{Name: "hnc_" + name, Help: help, StabilityLevel: metrics.ALPHA}
	}
	f := &former{
		suppress: suppress,
		namespaceWork: metrics.NewGaugeVec(gauge("reconcilers_hierconfig_total",
			"Pieces of work on namespaces, their hierarchies and sub-namespaces."), nil),
		namespacePeak: newPeak(gauge("reconcilers_hierconfig_concurrent_peak",
			"The most of them at a time within the last minute."), nil),
		hierarchyWrites: metrics.NewGauge(gauge("reconcilers_hierconfig_hierconfig_writes_total",
			"Writes of hierarchies.")),
		namespaceWrites: metrics.NewGauge(gauge("reconcilers_hierconfig_namespace_writes_total",
			"Writes of namespaces.")),
		objectWork: metrics.NewGaugeVec(gauge("reconcilers_object_total",
			"Sources and copies that were looked at."), []string{groupKind}),
		objectPeak: newPeak(gauge("reconcilers_object_concurrent_peak",
			"The most of them at a time within the last minute."), []string{groupKind}),
		objectWrites: metrics.NewGaugeVec(gauge("reconcilers_object_writes_total",
			"Writes of copies."), []string{groupKind}),
		objectOverwrites: metrics.NewGaugeVec(gauge("reconcilers_object_overwrites_total",
			"Local objects that were overwritten by the source of an ancestor."), []string{groupKind}),
		conditions: metrics.NewGaugeVec(gauge("namespace_conditions",
			"Namespaces that have a condition, by its type and reason, as the leading replica knows."), []string{"Condition", "Reason"}),
	}
	register(f.namespaceWork, f.namespacePeak, f.hierarchyWrites, f.namespaceWrites,
		f.objectWork, f.objectPeak, f.objectWrites, f.objectOverwrites, f.conditions)
	f.namespaceWork.WithLabelValues().Set(0)
	f.namespacePeak.begin()()
	return f
}

// tag returns the value of the label GroupKind.
func (f *former) tag(kind schema.GroupKind) string {
	if f.suppress {
		return ""
	}
	return kind.String()
}

// NamespaceWork counts a piece of work on a namespace, which lasts until what it returns is called.
func (m *Metrics) NamespaceWork() (done func()) {
	m.former.namespaceWork.WithLabelValues().Inc()
	return m.former.namespacePeak.begin()
}

// ObjectWork counts that an object is looked at, until what it returns is called.
func (m *Metrics) ObjectWork(kind schema.GroupKind) (done func()) {
	tag := m.former.tag(kind)
	m.former.objectWork.WithLabelValues(tag).Inc()
	return m.former.objectPeak.begin(tag)
}

// NamespaceConditions records how many namespaces have a condition.
func (m *Metrics) NamespaceConditions(conditionType, reason string, namespaces int) {
	m.former.conditions.WithLabelValues(conditionType, reason).Set(float64(namespaces))
}

// window is the time for which a peak counts.
const window = time.Minute

// peak is a gauge that holds the most work that was done at a time within the present window.
type peak struct {
	*metrics.GaugeVec
	now func() time.Time

	mu      sync.Mutex
	started time.Time
	work    map[string]*concurrent
}

// concurrent is how much work is being done, and the most of it in the window.
type concurrent struct {
	labels    []string
	now, most int
}

func newPeak(opts *metrics.GaugeOpts, labels []string) *peak {
	return &peak{GaugeVec: metrics.NewGaugeVec(opts, labels), now: time.Now, work: map[string]*concurrent{}}
}

// begin counts work that is done until what it returns is called. There is at most one label.
func (p *peak) begin(labels ...string) (done func()) {
	key := ""
	if len(labels) > 0 {
		key = labels[0]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn()
	c := p.work[key]
	if c == nil {
		c = &concurrent{labels: labels}
		p.work[key] = c
	}
	c.now++
	c.most = max(c.most, c.now)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.turn()
		c.now--
	}
}

// turn begins a new window when the present one is over. The lock must be held.
func (p *peak) turn() {
	if now := p.now(); now.Sub(p.started) >= window {
		p.started = now
		for _, c := range p.work {
			c.most = c.now
		}
	}
}

// Collect sets the gauges before they are collected.
func (p *peak) Collect(ch chan<- prometheus.Metric) {
	p.mu.Lock()
	p.turn()
	for _, c := range p.work {
		p.WithLabelValues(c.labels...).Set(float64(c.most))
	}
	p.mu.Unlock()
	p.GaugeVec.Collect(ch)
}
