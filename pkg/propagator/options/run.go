package options

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// Run runs a propagator until the context ends, or until the lease or the API server's store is lost, which is an error: the process has
// to start afresh then. Its metrics are registered, and metricsHandler serves them.
func (o *Options) Run(ctx context.Context, register metrics.Register, metricsHandler http.Handler) error {
	base, err := o.restConfig()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	config, stopEvents, err := propagatorConfig(ctx, base)
	if err != nil {
		return err
	}
	defer stopEvents()
	config.Workers = o.Workers
	rules, err := o.Managed.Rules()
	if err != nil {
		return err
	}
	config.Managed = &rules
	if config.Rules, err = o.Copies.Rules(); err != nil {
		return err
	}
	config.Metrics = metrics.New(register, o.SuppressObjectTags)
	p := propagator.New(config)

	health := leaderelection.NewLeaderHealthzAdaptor(20 * time.Second)
	served, err := o.serve(ctx, health, metricsHandler)
	if err != nil {
		return err
	}
	// A standby watches too, so that taking over costs no list of the whole cluster: while nobody leads, whoever
	// creates a sub-namespace waits.
	p.Watch(ctx)
	go func() {
		defer cancel()
		p.AwaitLoss(ctx)
	}()
	if o.LeaderElection.LeaderElect {
		err = o.lead(ctx, base, health, p.Lead)
	} else {
		p.Lead(ctx)
	}
	cancel()
	return errors.Join(err, p.Lost(), <-served)
}

// lead runs f while this replica holds the lease, and gives the lease back once f has returned.
func (o *Options) lead(ctx context.Context, base *rest.Config, health *leaderelection.HealthzAdaptor, f func(context.Context)) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	// The lease has its own connection: it must not wait behind thousands of writes.
	base = rest.CopyConfig(base)
	base.Timeout = o.LeaderElection.RenewDeadline.Duration / 2
	client, err := kubernetes.NewForConfig(base)
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(o.LeaderElection.ResourceLock, o.LeaderElection.ResourceNamespace, o.LeaderElection.ResourceName,
		client.CoreV1(), client.CoordinationV1(),
		// Without events: a restart shall write nothing, and the lease itself tells who leads.
		resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()})
	if err != nil {
		return err
	}
	// The election outlives the context for as long as f takes to end, so that no two replicas write at a time.
	electing, stopElecting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopElecting()
	started, finished := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            o.LeaderElection.ResourceName,
		LeaseDuration:   o.LeaderElection.LeaseDuration.Duration,
		RenewDeadline:   o.LeaderElection.RenewDeadline.Duration,
		RetryPeriod:     o.LeaderElection.RetryPeriod.Duration,
		WatchDog:        health,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				close(started)
				defer close(finished)
				working, stop := context.WithCancel(leading)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				f(working)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		select {
		case <-started:
			<-finished
		default:
		}
		stopElecting()
	}()
	elector.Run(electing)
	if ctx.Err() == nil {
		return errors.New("lost the lease")
	}
	return nil
}

// serve serves health, metrics and, if asked to, profiles until the context ends. The channel then gets an error or nil.
func (o *Options) serve(ctx context.Context, health *leaderelection.HealthzAdaptor, metricsHandler http.Handler) (<-chan error, error) {
	listener, err := net.Listen("tcp", o.MetricsBindAddress)
	if err != nil {
		return nil, fmt.Errorf("--metrics-bind-address: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metricsHandler)
	mux.HandleFunc("/livez", func(w http.ResponseWriter, r *http.Request) {
		// A leader that can't renew its lease and does not notice has to be restarted.
		if err := health.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte("ok"))
	})
	// A standby is ready: it does all that is asked of it.
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	if o.Profiling {
		profile(mux)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() {
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		served <- err
	}()
	context.AfterFunc(ctx, func() {
		shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(shutdown)
	})
	return served, nil
}
