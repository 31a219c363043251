// Package options configures hns-gateway by flags, and runs it.
package options

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/gateway"
)

// Options are the flags of hns-gateway.
type Options struct {
	// Kubeconfig is a file; empty means the configuration of the pod that this runs in.
	Kubeconfig string
	// Options are how the API, /metrics, /livez and /readyz are served.
	serving.Options
	// Limits are those of each view and of all views.
	Limits gateway.Limits
	// HarmlessExtraKeys are the keys of extra values of identities that restrict nothing.
	HarmlessExtraKeys []string
}

// maxStreams is how many requests a client may send at the same time through one connection; then it opens another one.
// kube-apiserver, which buffers up to 4 MiB of each response that its client does not read, and 1 GiB of a connection,
// has few connections for all users: with more streams, slow readers could delay all others.
const maxStreams = 250

// New returns the defaults.
func New() *Options {
	o := &Options{Options: serving.New(hnc.GatewayName), Limits: gateway.Limits{Requests: 100, Streams: 1000, AllStreams: 3000}}
	o.Secure.HTTP2MaxStreamsPerConnection = maxStreams
	// Without the authority by which kube-apiserver forwards requests, nobody could be served.
	o.Authentication.TolerateInClusterLookupFailure = false
	return o
}

// AddFlags adds the flags.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Path of the kubeconfig. Not needed in a pod.")
	fs.BoolVar(&o.Profiling, "profiling", o.Profiling, "Serve Go's profiles under /debug/pprof/ at --secure-port, to users who may get that non-resource URL.")
	fs.IntVar(&o.Limits.Requests, "max-requests-per-view", o.Limits.Requests, "Requests of one view that are served at the same time, without watches and streams. Others are rejected with 429.")
	fs.IntVar(&o.Limits.Streams, "max-streams-per-view", o.Limits.Streams, "Watches, logs, shells and other streams of one view that are served at the same time. Others are rejected with 429.")
	fs.IntVar(&o.Limits.AllStreams, "max-streams", o.Limits.AllStreams,
		"Watches, logs, shells and other streams of all views that are served at the same time. At least --max-streams-per-view. Others are rejected with 429. One that its client does not read needs up to 240 kB.")
	fs.StringSliceVar(&o.HarmlessExtraKeys, "harmless-extra-keys", o.HarmlessExtraKeys,
		"Keys of extra values of users that restrict nothing, and that are left out if kube-apiserver would not let them be impersonated. Users with other such keys are rejected.")
	fs.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", o.ShutdownDelay,
		"How long to serve after the process has been told to stop, while /readyz fails, so that no more requests are sent to it when it stops listening.")
	o.AddGenericFlags(fs)
}

// Validate returns the errors in the flags.
func (o *Options) Validate() field.ErrorList {
	var errs field.ErrorList
	for _, err := range o.ValidateServing() {
		errs = append(errs, field.Invalid(field.NewPath("serving"), "", err.Error()))
	}
	if o.Limits.Requests < 1 {
		errs = append(errs, field.Invalid(field.NewPath("max-requests-per-view"), o.Limits.Requests, "must be at least 1"))
	}
	if o.ShutdownDelay < 0 {
		errs = append(errs, field.Invalid(field.NewPath("shutdown-delay-duration"), o.ShutdownDelay.String(), "must not be negative"))
	}
	if o.Limits.Streams < 1 {
		errs = append(errs, field.Invalid(field.NewPath("max-streams-per-view"), o.Limits.Streams, "must be at least 1"))
	}
	if o.Limits.AllStreams < o.Limits.Streams {
		errs = append(errs, field.Invalid(field.NewPath("max-streams"), o.Limits.AllStreams, "must be at least --max-streams-per-view"))
	}
	return errs
}

// Run runs hns-gateway until the context ends.
func (o *Options) Run(ctx context.Context, metricsHandler http.Handler) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	config.UserAgent = hnc.GatewayName
	clientconfig.SetDefaults(config)
	g, err := gateway.New(config, gateway.Config{Limits: o.Limits, Metrics: gateway.NewMetrics(legacyregistry.MustRegister), Harmless: sets.New(o.HarmlessExtraKeys...)})
	if err != nil {
		return err
	}
	o.API = g
	ready := healthz.NamedCheck("views", func(*http.Request) error { return g.Usable() })
	port, err := o.Serve(ctx, o.Kubeconfig, []healthz.HealthChecker{healthz.PingHealthz}, []healthz.HealthChecker{ready}, metricsHandler)
	if err != nil {
		return err
	}
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		<-port.Closed
		g.Stop()
		<-port.Served
		stop()
	}()
	g.Run(following)
	return nil
}
