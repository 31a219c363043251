package propagator

import (
	"maps"
	"sync"
	"time"
)

// pace holds back lists of children. Each write of one is as large as the list, and while a tree is built there is another child all the
// time. The first write of a list is not held back, the next one comes after a pause. It is safe for concurrent use.
type pace struct {
	pause time.Duration
	now   func() time.Time

	mu sync.Mutex
	// written holds when a list was written, by namespace, as long as that matters; swept is when the rest was forgotten.
	written map[string]time.Time
	swept   time.Time
}

func newPace(pause time.Duration) *pace {
	return &pace{pause: pause, now: time.Now, written: map[string]time.Time{}}
}

// wait returns how long the list of a namespace's children is to be held back, 0 for not at all.
func (p *pace) wait(namespace string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.written[namespace]
	if !ok {
		return 0
	}
	return max(p.pause-p.now().Sub(at), 0)
}

// wrote records that the list was written.
func (p *pace) wrote(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.swept) >= p.pause {
		maps.DeleteFunc(p.written, func(_ string, at time.Time) bool { return now.Sub(at) >= p.pause })
		p.swept = now
	}
	p.written[namespace] = now
}
