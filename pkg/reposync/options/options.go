// Package options configures hns-sync by flags, and runs it.
package options

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/component-base/config"
	configoptions "k8s.io/component-base/config/options"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

// Options are the flags of hns-sync.
type Options struct {
	// Kubeconfig is a file; empty means the configuration of the pod that this runs in.
	Kubeconfig string
	// Options are how /metrics, /livez and /readyz are served.
	serving.Options
	LeaderElection config.LeaderElectionConfiguration
	// LocalRepositories is the directory that contains local repositories. Empty allows none.
	LocalRepositories string
	// Scratch is the directory for temporary files.
	Scratch string
	// MaxRepositoryBytes limits what is stored of a repository.
	MaxRepositoryBytes int64
}

// New returns the defaults.
func New() *Options {
	return &Options{Options: serving.New(hnc.SyncName), LeaderElection: serving.LeaderElection(hnc.SyncName), MaxRepositoryBytes: 256 << 20}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Path of the kubeconfig. Not needed in a pod.")
	fs.BoolVar(&o.Profiling, "profiling", o.Profiling, "Serve Go's profiles under /debug/pprof/ at --secure-port, to users who may get that non-resource URL.")
	fs.StringVar(&o.LocalRepositories, "local-repositories", o.LocalRepositories,
		"Directory whose Git repositories RepositorySyncs may name by file:// URLs. Without it they may name none.")
	fs.StringVar(&o.Scratch, "scratch-dir", o.Scratch, "Directory for the content of repositories while it is read. Defaults to that of the system for temporary files.")
	fs.Int64Var(&o.MaxRepositoryBytes, "max-repository-bytes", o.MaxRepositoryBytes, "Bytes that may be stored of a commit while it is read.")
	configoptions.BindLeaderElectionFlags(&o.LeaderElection, fs)
	o.AddGenericFlags(fs)
}

// Validate returns the errors in the flags.
func (o *Options) Validate() field.ErrorList {
	var errs field.ErrorList
	for _, err := range o.ValidateServing() {
		errs = append(errs, field.Invalid(field.NewPath("serving"), "", err.Error()))
	}
	if o.LocalRepositories != "" && !filepath.IsAbs(o.LocalRepositories) {
		errs = append(errs, field.Invalid(field.NewPath("local-repositories"), o.LocalRepositories, "must be an absolute path"))
	}
	if o.MaxRepositoryBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("max-repository-bytes"), o.MaxRepositoryBytes, "must be at least 1"))
	}
	return append(errs, serving.ValidateLeaderElection(&o.LeaderElection)...)
}

// Run runs hns-sync until the context ends, or until the lease is lost, which is an error: the process has to restart
// then.
func (o *Options) Run(ctx context.Context, register func(...metrics.Registerable), metricsHandler http.Handler) error {
	base, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	base.UserAgent = hnc.SyncName
	clientconfig.SetDefaults(base)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	manager, term, stopEvents, err := o.manager(ctx, base, register)
	if err != nil {
		return err
	}
	defer stopEvents()

	// A leader that can't renew its lease and does not notice has to be restarted.
	health := leaderelection.NewLeaderHealthzAdaptor(20 * time.Second)
	var elector atomic.Pointer[leaderelection.LeaderElector]
	ready := healthz.NamedCheck("lead", func(*http.Request) error {
		e := elector.Load()
		if !o.LeaderElection.LeaderElect || e != nil && e.IsLeader() {
			return manager.Synced()
		}
		if e == nil || e.GetLeader() == "" {
			return errors.New("no leader is known")
		}
		return nil
	})
	port, err := o.Serve(ctx, o.Kubeconfig, []healthz.HealthChecker{health}, []healthz.HealthChecker{ready}, metricsHandler)
	if err != nil {
		return err
	}
	if o.LeaderElection.LeaderElect {
		err = serving.Lead(ctx, base, &o.LeaderElection, term, health, &elector, manager.Run)
	} else {
		manager.Run(ctx)
	}
	cancel()
	<-port.Served
	return err
}

// manager returns the manager, the term for which it may write, nil without leader election, and a function that ends
// the recording of events.
func (o *Options) manager(ctx context.Context, base *rest.Config, register func(...metrics.Registerable)) (*reposync.Manager, *serving.Term, func(), error) {
	var term *serving.Term
	if o.LeaderElection.LeaderElect {
		term = serving.NewTerm(&o.LeaderElection)
		var err error
		if base, err = term.Restrict(base); err != nil {
			return nil, nil, nil, err
		}
	}
	kubernetesClient, err := kubernetes.NewForConfig(base)
	if err != nil {
		return nil, nil, nil, err
	}
	hierarchyClient, err := versioned.NewForConfig(base)
	if err != nil {
		return nil, nil, nil, err
	}
	scheme := runtime.NewScheme()
	if err := v1alpha3.AddToScheme(scheme); err != nil {
		return nil, nil, nil, err
	}
	events, shutdown := serving.RecordEvents(ctx, kubernetesClient, scheme, hnc.SyncName)
	return reposync.NewManager(reposync.Config{
		Client: base, Kubernetes: kubernetesClient, Hierarchy: hierarchyClient,
		Events:            events,
		Metrics:           reposync.NewMetrics(register),
		LocalRepositories: o.LocalRepositories, Scratch: o.Scratch, MaxRepositoryBytes: o.MaxRepositoryBytes,
	}), term, shutdown, nil
}
