package servers

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver/options"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// replica is an API server in this process.
type replica struct {
	// host is its URL.
	host string
	// ended gets how it ended, once.
	ended chan error
}

// startReplicas runs n API servers on the control plane's etcd until ctx is done, and returns when they are ready.
func startReplicas(ctx context.Context, n int) ([]*replica, error) {
	ports := make([]int, n)
	configured := make([]*options.Options, n)
	for i := range n {
		var err error
		if ports[i], err = cp.Port("in-process-" + strconv.Itoa(i)); err != nil {
			return nil, err
		}
		if configured[i], err = configure(ports[i]); err != nil {
			return nil, err
		}
	}
	// Feature gates are the process's: they are set once, and before anything reads them.
	if err := configured[0].Server.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	var started []*replica
	for i, o := range configured {
		r, err := startReplica(ctx, o, ports[i])
		if err != nil {
			return started, fmt.Errorf("replica %d: %w", i, err)
		}
		started = append(started, r)
	}
	return started, nil
}

// configure returns the options of a server that listens on a port.
func configure(port int) (*options.Options, error) {
	etcd, err := cp.Etcd()
	if err != nil {
		return nil, err
	}
	o := options.New()
	flags := pflag.NewFlagSet("hns-apiserver", pflag.ContinueOnError)
	for _, section := range o.Flags().FlagSets {
		flags.AddFlagSet(section)
	}
	args := append(etcd.Flags(),
		"--etcd-prefix="+controlplane.EtcdPrefix,
		"--bind-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--tls-cert-file="+installation.Serving.CertFile,
		"--tls-private-key-file="+installation.Serving.KeyFile,
		"--kubeconfig="+installation.APIServerKubeconfig,
		"--authentication-kubeconfig="+installation.APIServerKubeconfig,
		"--authorization-kubeconfig="+installation.APIServerKubeconfig,
		// No propagator runs while these are asked for sub-namespaces.
		"--ready-timeout=0",
	)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return o, o.Validate()
}

// startReplica runs one server, and returns when it is ready.
func startReplica(ctx context.Context, o *options.Options, port int) (*replica, error) {
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	server, err := config.Complete().New()
	if err != nil {
		return nil, err
	}
	r := &replica{host: "https://127.0.0.1:" + strconv.Itoa(port), ended: make(chan error, 1)}
	go func() { r.ended <- server.PrepareRun().RunWithContext(ctx) }()
	return r, r.waitReady(ctx)
}

// waitReady returns when all of the server's health checks pass.
func (r *replica) waitReady(ctx context.Context) error {
	client, err := admin.direct(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	var last error
	for ctx.Err() == nil {
		select {
		case err := <-r.ended:
			r.ended <- err
			return fmt.Errorf("it ended: %w", err)
		case <-time.After(interval):
		}
		if last = client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); last == nil {
			return nil
		}
	}
	return fmt.Errorf("it did not get ready: %w", last)
}
