// Package options configures a propagator by flags, and runs it.
package options

import (
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/config"
	configoptions "k8s.io/component-base/config/options"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/certificates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

// Options are the flags of the propagator.
type Options struct {
	// Kubeconfig is a file; empty means the configuration of the pod that this runs in.
	Kubeconfig string
	// Options are how /metrics, /livez and /readyz are served.
	serving.Options
	// SuppressObjectTags leaves the kinds out of HNC's metrics.
	SuppressObjectTags bool
	// Workers is how many writes are made at a time.
	Workers        int
	LeaderElection config.LeaderElectionConfiguration
	// InitialConfiguration is a file with the configuration that is created if there is none; empty means an empty one.
	InitialConfiguration string
	// InheritPodSecurity gives sub-namespaces the Pod Security labels of their parents.
	InheritPodSecurity bool
	// ManageCertificates issues hns-apiserver's certificate and publishes its authority.
	ManageCertificates bool
	// Certificates are the lifetimes of issued certificates.
	Certificates certificates.Lifetimes
	// HRQEnforcement is how the sums of hierarchical quotas are limited.
	HRQEnforcement string
}

const year = 365 * 24 * time.Hour

// New returns the defaults.
func New() *Options {
	return &Options{
		Options:            serving.New(hnc.PropagatorName),
		SuppressObjectTags: true,
		Workers:            32,
		InheritPodSecurity: true,
		HRQEnforcement:     string(quota.Reserve),
		Certificates:       certificates.Lifetimes{Authority: 10 * year, Serving: year / 4},
		LeaderElection:     serving.LeaderElection(hnc.PropagatorName),
	}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Path of the kubeconfig. Not needed in a pod.")
	fs.BoolVar(&o.Profiling, "profiling", o.Profiling,
		"Serve Go's profiles under /debug/pprof/ at --secure-port, to users who may get that non-resource URL.")
	fs.BoolVar(&o.SuppressObjectTags, "suppress-object-tags", o.SuppressObjectTags,
		"Leave the label GroupKind of the metrics hnc_reconcilers_object_* empty. The metrics hns_propagation_* always have the label kind.")
	fs.IntVar(&o.Workers, "workers", o.Workers,
		"Writes that are made at a time, and once more as many for new sub-namespaces. The API server's priority and fairness does the throttling.")
	fs.BoolVar(&o.InheritPodSecurity, "inherit-pod-security", o.InheritPodSecurity,
		"Give sub-namespaces the labels pod-security.kubernetes.io/* of their parents, in their creation and when these change.")
	fs.BoolVar(&o.ManageCertificates, "manage-certificates", o.ManageCertificates,
		"Issue and renew hns-apiserver's certificate in the Secret "+certificates.ServingSecret+", and publish its authority in the APIServices.")
	fs.DurationVar(&o.Certificates.Serving, "certificate-lifetime", o.Certificates.Serving,
		"How long certificates that --manage-certificates issues are valid. They are renewed after two thirds of it.")
	fs.DurationVar(&o.Certificates.Authority, "ca-lifetime", o.Certificates.Authority,
		"How long their authority is valid. It is replaced after two thirds of it, and trusted until it expires.")
	fs.StringVar(&o.HRQEnforcement, "hrq-enforcement", o.HRQEnforcement,
		"How the sum of the use in the subtree of a HierarchicalResourceQuota is limited. Reserve: by a webhook on the status of its ResourceQuotas, which never lets the sum exceed a limit. "+
			"Eventual: without a webhook, by limiting each namespace to what the others leave about a second later.")
	fs.StringVar(&o.InitialConfiguration, "initial-configuration", o.InitialConfiguration,
		"Path of a manifest of an HNCConfiguration. It is created in a cluster without one; changes of the file have no effect afterwards.")
	configoptions.BindLeaderElectionFlags(&o.LeaderElection, fs)
	o.AddGenericFlags(fs)
}

// Validate returns the errors in the flags.
func (o *Options) Validate() field.ErrorList {
	var errs field.ErrorList
	for _, err := range o.ValidateServing() {
		errs = append(errs, field.Invalid(field.NewPath("serving"), "", err.Error()))
	}
	if o.Workers < 1 {
		errs = append(errs, field.Invalid(field.NewPath("workers"), o.Workers, "must be at least 1"))
	}
	if l := o.Certificates; l.Serving <= 0 || l.Serving > l.Authority/3 {
		errs = append(errs, field.Invalid(field.NewPath("certificate-lifetime"), l.Serving.String(),
			"must be more than 0, and at most a third of ca-lifetime: certificates must not outlive their authority"))
	}
	if _, err := quota.ParseMode(o.HRQEnforcement); err != nil {
		errs = append(errs, field.Invalid(field.NewPath("hrq-enforcement"), o.HRQEnforcement, err.Error()))
	}
	if _, err := readConfiguration(o.InitialConfiguration); err != nil {
		errs = append(errs, field.Invalid(field.NewPath("initial-configuration"), o.InitialConfiguration, err.Error()))
	}
	return append(errs, serving.ValidateLeaderElection(&o.LeaderElection)...)
}
