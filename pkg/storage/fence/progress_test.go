package fence

import (
	"testing"
	"time"
)

// TestWaitersShareProgressRequests has requests that are under way, answered and lost.
func TestWaitersShareProgressRequests(t *testing.T) {
	p, now := newProgress(), time.Now()
	if !p.request(now) {
		t.Error("the first waiter sends no request")
	}
	for range 100 {
		if p.request(now.Add(progressInterval / 2)) {
			t.Fatal("a request is sent although one is under way")
		}
	}
	p.set(5)
	if p.request(now.Add(progressInterval / 2)) {
		t.Error("a request is sent because an event has arrived, although one is under way")
	}
	_, advanced := p.get()
	p.answer(5)
	select {
	case <-advanced:
	default:
		t.Error("an answer that tells nothing new wakes nobody, so that those who wait for more do not ask again")
	}
	if !p.request(now.Add(progressInterval / 2)) {
		t.Error("no request is sent after the answer")
	}
	if !p.request(now.Add(2 * progressInterval)) {
		t.Error("a request that is not answered is not repeated")
	}
	if p.answer(3); p.revision != 5 {
		t.Errorf("the progress went back to %d", p.revision)
	}
}
