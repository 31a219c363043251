package propagator

import (
	"maps"
	"sync"
	"time"
)

// pace holds back what is to be written for a namespace until a pause is over that begins with something else. It is safe for concurrent use.
type pace struct {
	pause time.Duration
	now   func() time.Time

	mu sync.Mutex
	// begun holds when pauses have begun, by namespace, as long as that matters; swept is when the rest was forgotten.
	begun map[string]time.Time
	swept time.Time
}

func newPace(pause time.Duration) *pace {
	return &pace{pause: pause, now: time.Now, begun: map[string]time.Time{}}
}

// wait returns how long the pause of a namespace goes on, 0 if it has none.
func (p *pace) wait(namespace string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.begun[namespace]
	if !ok {
		return 0
	}
	return max(p.pause-p.now().Sub(at), 0)
}

// begin begins the pause of a namespace anew.
func (p *pace) begin(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.swept) >= p.pause {
		maps.DeleteFunc(p.begun, func(_ string, at time.Time) bool { return now.Sub(at) >= p.pause })
		p.swept = now
	}
	p.begun[namespace] = now
}
