package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/faults"
)

const (
	// outage is how long something is away that comes back by itself.
	outage = 3 * time.Second
	// lease is how long that of a propagator is, and a little longer: see its flags.
	lease = 6 * time.Second
)

// fault is a failure to inject. inject returns when its cause is gone, and what is left is for the servers to mend.
type fault struct {
	name   string
	inject func(context.Context, *replicas, *rand.Rand) error
}

// rolling is the name of the fault that must not fail any request.
const rolling = "rolling restart of hns-apiserver"

var injectable = []fault{
	{"kill -9 of an hns-apiserver", func(_ context.Context, r *replicas, random *rand.Rand) error {
		return r.signal(r.servers[random.IntN(apiServers)].Process(), syscall.SIGKILL)
	}},
	{"kill -9 of the leading hns-propagator", func(ctx context.Context, r *replicas, _ *rand.Rand) error {
		return r.signal(r.leader(ctx), syscall.SIGKILL)
	}},
	{"kill -9 of the waiting hns-propagator", func(ctx context.Context, r *replicas, _ *rand.Rand) error {
		leader := r.leader(ctx)
		for _, server := range r.servers[apiServers:] {
			if process := server.Process(); process != leader {
				return r.signal(process, syscall.SIGKILL)
			}
		}
		return errors.New("no propagator waits")
	}},
	{"kill -9 of the leader of etcd", func(ctx context.Context, r *replicas, _ *rand.Rand) error {
		process, err := r.etcdLeader(ctx)
		if err != nil {
			return err
		}
		return r.signal(process, syscall.SIGKILL)
	}},
	{"kill -9 of kube-apiserver", func(ctx context.Context, r *replicas, _ *rand.Rand) error {
		if err := r.cp.Kill(ctx, "kube-apiserver"); err != nil {
			return err
		}
		_, err := controlplane.Start(ctx, r.config)
		return err
	}},
	{"a member of etcd is away", func(ctx context.Context, r *replicas, random *rand.Rand) error {
		process := r.members[random.IntN(len(r.members))].Process
		defer r.supervisor.Hold(process)()
		if err := r.cp.Kill(ctx, process); err != nil {
			return err
		}
		return after(ctx, outage)
	}},
	{"the leading hns-propagator is suspended past its lease", func(ctx context.Context, r *replicas, _ *rand.Rand) error {
		process := r.leader(ctx)
		if err := r.signal(process, syscall.SIGSTOP); err != nil {
			return err
		}
		return errors.Join(after(ctx, lease), r.signal(process, syscall.SIGCONT))
	}},
	{"an hns-apiserver is cut off from etcd", partition(faults.Cut)},
	{"packets between an hns-apiserver and etcd are dropped", partition(faults.Silent)},
	{"packets between an hns-apiserver and etcd are late", partition(faults.Slow)},
	{rolling, func(ctx context.Context, r *replicas, _ *rand.Rand) error {
		for _, server := range r.servers[:apiServers] {
			if err := r.restart(ctx, server); err != nil {
				return err
			}
		}
		return nil
	}},
}

// partition changes the network between a replica and all members of etcd for some time.
func partition(n faults.Network) func(context.Context, *replicas, *rand.Rand) error {
	return func(ctx context.Context, r *replicas, random *rand.Rand) error {
		networks := r.networks[random.IntN(apiServers)]
		for _, p := range networks {
			p.Set(n)
			defer p.Set(faults.Open)
		}
		return after(ctx, outage)
	}
}

// restart stops a replica in order, and returns when requests are routed to the one that replaces it.
func (r *replicas) restart(ctx context.Context, server controlplane.Server) error {
	before, err := r.pid(server.Process())
	if err != nil {
		return err
	}
	if err := r.signal(server.Process(), syscall.SIGTERM); err != nil {
		return err
	}
	return poll(ctx, func() error {
		now, err := r.pid(server.Process())
		if err != nil {
			return err
		}
		if now == before {
			return errors.New("it has not ended")
		}
		return r.routed(ctx, server)
	})
}

// after waits.
func after(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// poll returns when check does so without an error, or with its last error when patience ends.
func poll(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		if after(ctx, interval) != nil {
			return err
		}
	}
}
