package chaos

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

var (
	// apiServer embeds its etcd, so that its data have to survive its crashes.
	apiServer = controlplane.Server{Name: "hns-apiserver"}
	// propagator takes over from its crashed predecessor when that one's lease has expired.
	propagator = controlplane.Server{Name: "hns-propagator", Args: []string{
		"--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=500ms",
	}}
	// steady is a propagator that no lease can end.
	steady = controlplane.Server{Name: propagator.Name, Args: []string{"--leader-elect=false"}}
)

// crashing runs our servers and kills them.
type crashing struct {
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// mu is held while servers are killed or started.
	mu sync.Mutex
}

// supervise starts a server that has ended by itself, as a kubelet would, until ctx is done: a propagator that could
// not renew its lease in time, on a machine that has other things to do, leaves it to another one.
func (c *crashing) supervise(ctx context.Context, t *testing.T) {
	for ; ctx.Err() == nil; time.Sleep(interval) {
		c.mu.Lock()
		for _, server := range []controlplane.Server{apiServer, propagator} {
			if c.cp.Running(server.Process()) {
				continue
			}
			t.Logf("%s has ended by itself", server.Process())
			if err := c.start(ctx, server); err != nil && ctx.Err() == nil {
				t.Errorf("start of what had ended: %v", err)
			}
		}
		c.mu.Unlock()
	}
}

// start runs a server, and returns when kube-apiserver forwards to it if it is one that is forwarded to.
func (c *crashing) start(ctx context.Context, server controlplane.Server) error {
	port, err := c.cp.StartServer(ctx, c.installation, server)
	if err != nil || server.Name != apiServer.Name {
		return err
	}
	// kube-apiserver, which backs off from a server that is down, looks again.
	return c.cp.Register(ctx, c.installation, port)
}

// crash kills servers and starts them again, spread over the changes that are made.
func (c *crashing) crash(t *testing.T, made *atomic.Int64, random *rand.Rand) {
	victims := [][]controlplane.Server{{apiServer}, {propagator}, {apiServer}, {propagator}, {apiServer}, {apiServer, propagator}}
	for kill := 0; kill < kills(); {
		next := int64(changes() * (kill + 1) / (kills() + 1))
		for made.Load() < next {
			if t.Failed() {
				return
			}
			time.Sleep(interval / 10)
		}
		dead := victims[random.IntN(len(victims))]
		c.restart(t, dead...)
		kill += len(dead)
	}
}

// restart kills servers, and starts them again when all are dead.
func (c *crashing) restart(t *testing.T, servers ...controlplane.Server) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, server := range servers {
		if err := c.cp.Kill(t.Context(), server.Process()); err != nil && c.cp.Running(server.Process()) {
			t.Errorf("killing: %v", err)
		}
	}
	for _, server := range servers {
		if err := c.start(t.Context(), server); err != nil {
			t.Errorf("start after a crash: %v", err)
		}
	}
}

// writes returns how many writes the propagator has made since it started, by their labels. It leaves out those that
// were answered that they have been made already: two of its workers may find the same thing missing.
func (c *crashing) writes(t *testing.T) map[string]int {
	t.Helper()
	samples, err := c.cp.Metrics(t.Context(), propagator.Process())
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]int{}
	for name, value := range samples {
		labels, ok := strings.CutPrefix(name, "hns_propagation_writes_total{")
		// The configuration's status counts objects.
		if ok && strings.Contains(labels, `result="done"`) && !strings.Contains(labels, `kind="HNCConfiguration"`) {
			writes[strings.TrimSuffix(labels, "}")] = int(value)
		}
	}
	return writes
}
