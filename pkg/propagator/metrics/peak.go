package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/component-base/metrics"
)

// window is how long a peak lasts.
const window = time.Minute

// Peak is a gauge of the most concurrent work within the present window.
type Peak struct {
	*metrics.GaugeVec
	now func() time.Time

	mu      sync.Mutex
	started time.Time
	work    map[string]*concurrent
}

// concurrent is how much work is under way, and the most of it in the window.
type concurrent struct {
	labels    []string
	now, most int
}

// NewPeak returns a Peak with at most one label.
func NewPeak(opts *metrics.GaugeOpts, labels []string) *Peak {
	return &Peak{GaugeVec: metrics.NewGaugeVec(opts, labels), now: time.Now, work: map[string]*concurrent{}}
}

// Begin counts work that lasts until the result is called.
func (p *Peak) Begin(labels ...string) (done func()) {
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
func (p *Peak) turn() {
	if now := p.now(); now.Sub(p.started) >= window {
		p.started = now
		for _, c := range p.work {
			c.most = c.now
		}
	}
}

// Collect sets the gauges before they are collected.
func (p *Peak) Collect(ch chan<- prometheus.Metric) {
	p.mu.Lock()
	p.turn()
	for _, c := range p.work {
		p.WithLabelValues(c.labels...).Set(float64(c.most))
	}
	p.mu.Unlock()
	p.GaugeVec.Collect(ch)
}
