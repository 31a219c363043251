package options

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/certificates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

// Run runs a propagator until the context ends, or until the lease or the API server's store is lost, which is an
// error: the process has to restart then. It registers the metrics, and metricsHandler serves them.
func (o *Options) Run(ctx context.Context, register metrics.Register, metricsHandler http.Handler) error {
	base, err := o.restConfig()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	var term *serving.Term
	if o.LeaderElection.LeaderElect {
		term = serving.NewTerm(&o.LeaderElection)
	}
	config, stopEvents, err := ManagerConfig(ctx, base, term)
	if err != nil {
		return err
	}
	defer stopEvents()
	if err := requirePolicies(ctx, config.Kubernetes.Discovery()); err != nil {
		return err
	}
	if err := o.Configure(&config); err != nil {
		return err
	}
	config.Metrics = metrics.New(register, o.SuppressObjectTags)
	p := propagator.NewRunner(config)

	// A leader that can't renew its lease and does not notice has to be restarted.
	health := leaderelection.NewLeaderHealthzAdaptor(20 * time.Second)
	var elector atomic.Pointer[leaderelection.LeaderElector]
	port, err := o.Serve(ctx, o.Kubeconfig, []healthz.HealthChecker{health}, o.readiness(p, &elector), metricsHandler)
	if err != nil {
		return err
	}
	// A standby watches too, so that taking over does not list the whole cluster: while no replica leads, creations of
	// sub-namespaces wait.
	p.Watch(ctx)
	go func() {
		defer cancel()
		p.AwaitLoss(ctx)
	}()
	lead := func(ctx context.Context) {
		if awaitMigration(ctx, config.Kubernetes, config.Metadata) {
			p.Lead(ctx)
		}
	}
	if o.ManageCertificates {
		propagate := lead
		// Before the propagator has read any hierarchy: hns-apiserver starts when it has a certificate.
		issuer := certificates.New(config.Kubernetes, config.Dynamic, o.Certificates, register)
		lead = func(ctx context.Context) {
			var issuing sync.WaitGroup
			issuing.Go(func() { issuer.Run(ctx) })
			propagate(ctx)
			issuing.Wait()
		}
	}
	if o.LeaderElection.LeaderElect {
		err = serving.Lead(ctx, base, &o.LeaderElection, term, health, &elector, lead)
	} else {
		lead(ctx)
	}
	cancel()
	<-port.Served
	return errors.Join(err, p.Lost())
}

// Configure sets the parts of a Manager's configuration that depend on flags.
func (o *Options) Configure(config *propagator.Config) error {
	config.Workers = o.Workers
	config.InheritPodSecurity = o.InheritPodSecurity
	var err error
	if config.QuotaEnforcement, err = quota.ParseMode(o.HRQEnforcement); err != nil {
		return fmt.Errorf("--hrq-enforcement: %w", err)
	}
	if config.Initial, err = readConfiguration(o.InitialConfiguration); err != nil {
		return fmt.Errorf("--initial-configuration: %w", err)
	}
	return nil
}

// readiness returns the checks of a ready replica: it could write, and it leads or knows the leader.
func (o *Options) readiness(p *propagator.Runner, elector *atomic.Pointer[leaderelection.LeaderElector]) []healthz.HealthChecker {
	return []healthz.HealthChecker{
		healthz.NamedCheck("sync", p.Synced),
		healthz.NamedCheck("watch", p.Watching),
		healthz.NamedCheck("lead", func(*http.Request) error {
			e := elector.Load()
			switch {
			case p.Leads(), p.Paused():
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
