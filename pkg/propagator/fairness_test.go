package propagator

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// held is a transport that, once it is shut, holds up writes of copies in one tree until it is opened.
type held struct {
	base http.RoundTripper
	tree string
	mu   sync.Mutex
	cond *sync.Cond
	shut bool
	// waiting is how many writes are held up.
	waiting int
}

func (h *held) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/namespaces/"+h.tree) && strings.HasSuffix(r.URL.Path, "/roles") {
		h.mu.Lock()
		h.waiting++
		for h.shut {
			h.cond.Wait()
		}
		h.waiting--
		h.mu.Unlock()
	}
	return h.base.RoundTrip(r)
}

func (h *held) set(shut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shut = shut
	h.cond.Broadcast()
}

func (h *held) count() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprint(h.waiting)
}

func TestAFanOutInOneTreeDoesNotDelayAChangeInAnother(t *testing.T) {
	const many = 500
	c := newCluster(t)
	for _, name := range []string{"big", "small", "small-below"} {
		c.namespace(name)
	}
	c.parent("small-below", "small")
	for i := range many {
		name := fmt.Sprintf("big-%d", i)
		c.namespace(name)
		c.parent(name, "big")
	}
	h := &held{tree: "big-"}
	h.cond = sync.NewCond(&h.mu)
	c.config.WrapTransport = func(base http.RoundTripper) http.RoundTripper { h.base = base; return h }
	c.start()
	t.Cleanup(func() { h.set(false) }) // before the propagator is stopped
	waiting := func() int { return c.propagator.bulk.Len() }
	c.eventually("labels", "1", func() string {
		return c.get("namespaces", "", fmt.Sprintf("big-%d", many-1)).GetLabels()["big.tree.hnc.x-k8s.io/depth"]
	})
	c.eventually("waiting work", "0", func() string { return fmt.Sprint(waiting()) })

	h.set(true)
	workers := c.propagator.Workers
	c.role("big", "fan-out", "get")
	c.eventually("writes held up", fmt.Sprint(workers), h.count)
	before := waiting()
	if before < many/2 {
		t.Fatalf("only %d copies wait", before)
	}
	c.role("small", "change", "get")
	c.eventually("change seen", "true", func() (seen string) {
		c.kind("roles", "rbac.authorization.k8s.io", func(k *cache.Kind) { seen = fmt.Sprint(k.Index.Get("small", "change") != nil) })
		return seen
	})
	c.takeWrites()
	h.set(false)
	c.eventuallyRoles("small-below", "change=get<small")
	c.eventuallyRoles(fmt.Sprintf("big-%d", many-1), "fan-out=get<big")

	earlier := 0
	for _, w := range c.takeWrites() {
		if strings.HasPrefix(w, "POST "+rbac+"/namespaces/small-below") {
			break
		}
		earlier++
	}
	// It is the next but one, but other workers go on until one has found that it is to be written.
	if earlier > before/2 {
		t.Errorf("%d writes went before the other tree's, with %d waiting", earlier, before)
	}
}
