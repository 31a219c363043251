// Command hns-apiserver is the aggregated API server of the hierarchy API.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver/options"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/gctuning"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/embedded"
)

// version is set by the build.
var version = "(UNKNOWN)"

func main() {
	os.Exit(cli.Run(command(genericapiserver.SetupSignalContext())))
}

func command(ctx context.Context) *cobra.Command {
	o := options.New()
	o.Version = version
	cmd := &cobra.Command{
		Use:   hnc.APIServerName,
		Short: "Serves the hierarchy API of a cluster",
		Long: "Serves hierarchies and sub-namespaces under hnc.x-k8s.io, as an API server that kube-apiserver aggregates.\n" +
			"Any number of replicas can run on one etcd; with --data-dir a single replica brings its own.",
		Example: "  # A single replica with its own etcd\n" +
			"  hns-apiserver --data-dir=/var/lib/hns --tls-cert-file=tls.crt --tls-private-key-file=tls.key\n\n" +
			"  # Replicas that share an etcd\n" +
			"  hns-apiserver --etcd-servers=https://etcd:2379 --etcd-cafile=ca.crt --etcd-certfile=client.crt --etcd-keyfile=client.key",
		Version:      version,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			if err := o.Server.ComponentGlobalsRegistry.Set(); err != nil {
				return err
			}
			if err := logsapi.ValidateAndApply(o.Logs, nil); err != nil {
				return err
			}
			klog.SetLogFilter(names.LogFilter{})
			return run(ctx, o)
		},
	}
	sections := o.Flags()
	sections.FlagSet("global").Bool("version", false, "Print the version and exit.")
	for _, flags := range sections.FlagSets {
		cmd.Flags().AddFlagSet(flags)
	}
	columns, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, sections, columns)
	return cmd
}

var errEtcdEnded = errors.New("the embedded etcd has ended: its log says why")

// run serves until ctx is done and all requests are drained, or until the embedded etcd ends, which is an error.
func run(ctx context.Context, o *options.Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if o.Recommended.Features.EnableContentionProfiling {
		// The flag alone enables the block profile only.
		runtime.SetMutexProfileFraction(10)
	}
	gctuning.Tune()
	if o.EmbedsEtcd() {
		etcd, err := embedded.Start(o.DataDir, o.DataQuota)
		if err != nil {
			return err
		}
		defer etcd.Stop()
		// The probe of liveness leaves etcd out.
		var stop context.CancelCauseFunc
		ctx, stop = context.WithCancelCause(ctx)
		defer stop(nil)
		go func() {
			<-etcd.Ended()
			stop(errEtcdEnded)
		}()
		o.UseEtcd(etcd.Endpoint)
	}
	config, err := o.Config()
	if err != nil {
		return err
	}
	server, err := config.Complete().New()
	if err != nil {
		return fmt.Errorf("cannot set up the server: %w", err)
	}
	err = server.PrepareRun().RunWithContext(ctx)
	if errors.Is(context.Cause(ctx), errEtcdEnded) {
		return errors.Join(err, errEtcdEnded)
	}
	return err
}
