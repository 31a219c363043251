package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/admissionpolicy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// exitCodes are those of doctor and preflight.
var exitCodes = map[diagnosis.Severity]int{diagnosis.Unknown: exitFound, diagnosis.Warning: exitFound, diagnosis.Error: exitErrors}

type doctorOptions struct {
	genericiooptions.IOStreams
	factory *Factory
	quiet   bool
	// beforeInstall looks at what an installation needs instead.
	beforeInstall bool
	// globalFlags are those of all commands, for a plugin.
	globalFlags []string

	clients  *Clients
	findings []diagnosis.Finding
}

func newDoctorCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &doctorOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for problems of the installation, and say what to do about them",
		Long: `Look at the cluster, the APIServices, certificates, policies, clocks, the leaders, the configuration, the permissions of the servers, tenant views,
repositories, the webhook of quotas, namespaces whose labels lag behind, the size of etcd, and what is left of HNC. It changes nothing.

While the propagation is paused after a restore, it lists what would be written; kubectl hns resume ends the pause.

The exit code is 0 if all is well, 2 for warnings and checks that need more permissions, and 3 for errors.`,
		Example: `  kubectl hns doctor
  kubectl hns doctor --quiet    # problems only`,
		Args: cobra.NoArgs,
		RunE: RunOptions(o),
	}
	o.addFlags(cmd)
	return cmd
}

func newPreflightCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &doctorOptions{IOStreams: streams, factory: f, beforeInstall: true}
	cmd := &cobra.Command{
		Use:   "preflight",
		Short: "Check what an installation needs, and what is in its way",
		Long: `Check what an installation needs, and what is in its way. It changes nothing.

The exit code is 0 if the servers can be installed, 2 for warnings and checks that need more permissions, and 3 for errors.`,
		Example: "  kubectl hns preflight",
		Args:    cobra.NoArgs,
		RunE:    RunOptions(o),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *doctorOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "Print problems only")
}

func (o *doctorOptions) Complete(cmd *cobra.Command, _ []string) error {
	o.globalFlags = globalFlags(cmd)
	return nil
}

func (*doctorOptions) Validate() error { return nil }

func (o *doctorOptions) Run(ctx context.Context) (err error) {
	if o.clients, err = o.factory.Clients(); err != nil {
		return err
	}
	if err := o.look(ctx); err != nil {
		return err
	}
	// The findings of an interrupted doctor are about its requests.
	if err := ctx.Err(); err != nil {
		return err
	}
	return o.report()
}

// look makes all checks. An error means that the cluster does not answer.
func (o *doctorOptions) look(ctx context.Context) error {
	now, err := o.factory.ServerTime(ctx)
	if err != nil {
		return err
	}
	o.checkCluster(ctx, now)
	definitions, readable := o.names(ctx, hnc.CRDResource)
	switch {
	case o.beforeInstall:
		o.checkVacancy(ctx)
	case notInstalled(ctx, o):
		o.add(diagnosis.NotInstalled)
	case readable && o.checkMigration(ctx, definitions):
		return nil
	default:
		o.checkInstallation(ctx, now)
	}
	if readable {
		o.checkLeftovers(ctx, definitions)
	}
	return nil
}

// checkInstallation looks at the servers, and at what they do.
func (o *doctorOptions) checkInstallation(ctx context.Context, now time.Time) {
	bundle := o.checkAPIServices(ctx)
	o.checkSystem(ctx, bundle, now)
	o.checkGateway(ctx, now)
	o.checkRepositories(ctx, now)
	o.checkQuotas(ctx)
	o.checkViewDefinitions(ctx)
	o.checkServerClock(ctx, now)
	o.checkPolicies(ctx)
	configuration := o.checkConfiguration(ctx)
	o.checkPermissions(ctx, configuration)
	o.checkLag(ctx)
	o.checkEtcd(ctx)
}

// report prints the findings, and returns the exit code as an error.
func (o *doctorOptions) report() error {
	for _, f := range o.findings {
		if o.quiet && f.Severity == diagnosis.OK {
			continue
		}
		if _, err := io.WriteString(o.Out, names.Line("%-8s %s: %s", f.Severity, f.Subject, f.Text)); err != nil {
			return err
		}
		if f.Hint == "" {
			continue
		}
		if _, err := io.WriteString(o.Out, names.Line("         -> %s", f.Hint)); err != nil {
			return err
		}
	}
	if code := exitCodes[diagnosis.Worst(o.findings)]; code != 0 {
		return exitError{code}
	}
	return nil
}

func (o *doctorOptions) add(findings ...diagnosis.Finding) {
	o.findings = append(o.findings, findings...)
}

// failed records that something could not be read, except that it does not exist. It reports whether the check must be
// left out.
func (o *doctorOptions) failed(subject string, err error) bool {
	switch {
	case err == nil || apierrors.IsNotFound(err):
		return false
	case apierrors.IsForbidden(err):
		o.add(diagnosis.Finding{Severity: diagnosis.Unknown, Subject: subject, Text: "missing permission: " + missingPermission(err)})
	case apierrors.IsServiceUnavailable(err):
		o.add(diagnosis.Unavailable(subject, ServerMessage(err)))
	default:
		o.add(diagnosis.Finding{Severity: diagnosis.Error, Subject: subject, Text: ServerMessage(err), Hint: "look at the log of kube-apiserver, and of hns-apiserver"})
	}
	return true
}

// checkAPIServices returns the bundle of the preferred version.
func (o *doctorOptions) checkAPIServices(ctx context.Context) []byte {
	var bundle []byte
	for _, api := range hnc.APIServices {
		found, err := o.apiService(ctx, api.Name)
		if o.failed("apiservice "+api.Name, err) {
			continue
		}
		if found != nil && bundle == nil {
			bundle = found.Spec.CABundle
		}
		o.add(diagnosis.APIService(api, found))
	}
	return bundle
}

// checkSystem looks at what is in the namespace of the servers.
func (o *doctorOptions) checkSystem(ctx context.Context, bundle []byte, now time.Time) {
	namespace, err := o.clients.namespaces.Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if !o.failed("namespace "+hnc.SystemNamespace, err) {
		if err != nil {
			namespace = nil
		}
		o.add(diagnosis.Namespace(namespace))
	}
	o.checkCertificate(ctx, hnc.APIServerName, bundle, now)
	o.checkLeader(ctx, hnc.PropagatorName, now)
}

func (o *doctorOptions) checkPolicies(ctx context.Context) {
	for _, kind := range []struct {
		resource string
		wanted   []string
	}{
		{"validatingadmissionpolicies", admissionpolicy.Validating()},
		{"validatingadmissionpolicybindings", admissionpolicy.Validating()},
		{"mutatingadmissionpolicies", admissionpolicy.Mutating()},
		{"mutatingadmissionpolicybindings", admissionpolicy.Mutating()},
	} {
		if found, ok := o.names(ctx, schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: kind.resource}); ok {
			o.add(diagnosis.Policies(kind.resource, kind.wanted, found))
		}
	}
}

// checkConfiguration returns the configuration, nil if it cannot be read.
func (o *doctorOptions) checkConfiguration(ctx context.Context) *v1beta1.HNCConfiguration {
	configuration, err := o.clients.Hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, "config", metav1.GetOptions{})
	switch {
	case o.failed("hncconfiguration config", err):
	case err != nil:
		o.add(diagnosis.NoConfiguration(isUnserved(err)))
	default:
		o.add(diagnosis.Configuration(configuration)...)
		if diagnosis.Paused(configuration) != nil || lost(ctx, o, configuration) {
			o.checkDifferences(ctx)
		}
		return configuration
	}
	return nil
}

// names returns the names of all objects of a kind, none if the cluster does not have the kind, and false if they
// cannot be listed.
func (o *doctorOptions) names(ctx context.Context, resource schema.GroupVersionResource) ([]string, bool) {
	found, err := o.clients.metadata.Resource(resource).List(ctx, metav1.ListOptions{})
	if o.failed(resource.Resource, err) {
		return nil, false
	}
	if err != nil {
		return nil, true
	}
	names := make([]string, 0, len(found.Items))
	for _, object := range found.Items {
		names = append(names, object.Name)
	}
	return names, true
}
