package options

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/certificates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// Run runs a propagator until the context ends, or until the lease or the API server's store is lost, which is an error: the process has to
// restart then. It registers the metrics, and metricsHandler serves them.
func (o *Options) Run(ctx context.Context, register metrics.Register, metricsHandler http.Handler) error {
	base, err := o.restConfig()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	config, stopEvents, err := ManagerConfig(ctx, base)
	if err != nil {
		return err
	}
	defer stopEvents()
	config.Workers = o.Workers
	config.InheritPodSecurity = o.InheritPodSecurity
	rules, err := o.Managed.Rules()
	if err != nil {
		return err
	}
	config.Managed = &rules
	if config.Rules, err = o.Copies.Rules(); err != nil {
		return err
	}
	config.InForce = inforce.Of(o.Managed, o.Copies)
	config.Metrics = metrics.New(register, o.SuppressObjectTags)
	p := propagator.New(config)

	// A leader that can't renew its lease and does not notice has to be restarted.
	health := leaderelection.NewLeaderHealthzAdaptor(20 * time.Second)
	var elector atomic.Pointer[leaderelection.LeaderElector]
	served, err := o.serve(ctx, o.Kubeconfig, []healthz.HealthChecker{health}, o.readiness(p, &elector), metricsHandler)
	if err != nil {
		return err
	}
	// A standby watches too, so that taking over does not list the whole cluster: while no replica leads, creations of sub-namespaces wait.
	p.Watch(ctx)
	go func() {
		defer cancel()
		p.AwaitLoss(ctx)
	}()
	lead := p.Lead
	if o.ManageCertificates {
		// Before the propagator has read any hierarchy: hnc-apiserver starts when it has a certificate.
		issuer := certificates.New(config.Kubernetes, config.Dynamic, o.Certificates, register)
		lead = func(ctx context.Context) {
			var issuing sync.WaitGroup
			issuing.Go(func() { issuer.Run(ctx) })
			p.Lead(ctx)
			issuing.Wait()
		}
	}
	if o.LeaderElection.LeaderElect {
		err = o.lead(ctx, base, health, &elector, lead)
	} else {
		lead(ctx)
	}
	cancel()
	<-served
	return errors.Join(err, p.Lost())
}

// readiness returns the checks of a ready replica: it could write, and it leads or knows the leader.
func (o *Options) readiness(p *propagator.Manager, elector *atomic.Pointer[leaderelection.LeaderElector]) []healthz.HealthChecker {
	return []healthz.HealthChecker{
		healthz.NamedCheck("sync", func(*http.Request) error { return p.Synced() }),
		healthz.NamedCheck("watch", func(*http.Request) error { return p.Watching() }),
		healthz.NamedCheck("lead", func(*http.Request) error {
			e := elector.Load()
			switch {
			case p.Leads():
				return nil
			case !o.LeaderElection.LeaderElect || e != nil && e.IsLeader():
				return errors.New("not propagating yet")
			case e == nil || e.GetLeader() == "":
				return errors.New("no leader is known")
			}
			return nil
		}),
	}
}

// lead runs f while this replica holds the lease, and releases the lease once f has returned. It stores the elector, which knows the
// leader.
func (o *Options) lead(ctx context.Context, base *rest.Config, health *leaderelection.HealthzAdaptor,
	known *atomic.Pointer[leaderelection.LeaderElector], f func(context.Context),
) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	// The lease has its own connection, so that it does not wait behind thousands of writes.
	base = rest.CopyConfig(base)
	base.Timeout = o.LeaderElection.RenewDeadline.Duration / 2
	client, err := kubernetes.NewForConfig(base)
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(o.LeaderElection.ResourceLock, o.LeaderElection.ResourceNamespace, o.LeaderElection.ResourceName,
		client.CoreV1(), client.CoordinationV1(),
		// Without events: a restart must write nothing, and the lease itself shows who leads.
		resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()})
	if err != nil {
		return err
	}
	// The election outlives the context until f ends, so that two replicas never write at the same time.
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
	known.Store(elector)
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
