package propagator

import (
	"sync"
	"time"
)

// pace holds back the lists of children of namespaces that have many: each write of such a list is large, and while a tree is built there is
// another child all the time. The first write is not held back; the next ones leave a pause that grows with the list, from that of a
// hundred children, the window in which changes are collected anyway, up to ten windows. It is safe for concurrent use.
type pace struct {
	window time.Duration
	now    func() time.Time
	mu     sync.Mutex
	// next holds when a list may be written again, if that is later than the window.
	next map[string]time.Time
}

func newPace(window time.Duration) *pace {
	return &pace{window: window, now: time.Now, next: map[string]time.Time{}}
}

// wait returns how long the list of a namespace's children is to be held back, 0 for not at all.
func (p *pace) wait(namespace string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := p.next[namespace].Sub(p.now())
	if wait <= 0 {
		delete(p.next, namespace)
		return 0
	}
	return wait
}

// wrote records that a list of so many children was written.
func (p *pace) wrote(namespace string, children int) {
	const few = 100
	if children <= few {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next[namespace] = p.now().Add(min(p.window/few*time.Duration(children), 10*p.window))
}
