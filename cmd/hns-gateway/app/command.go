// Package app is the command line of hns-gateway.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // requests
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/gateway/options"
)

// NewCommand returns the command, which prints the version if it is asked to.
func NewCommand(version string) *cobra.Command {
	o := options.New()
	logging := logsapi.NewLoggingConfiguration()
	cmd := &cobra.Command{
		Use:   "hns-gateway",
		Short: "Serves tenant views",
		Long: `Serves the subtrees of TenantViews as clusters of their own, as an API that kube-apiserver aggregates, and on its own port.
Requests go to kube-apiserver as their callers. Any number of replicas can run.`,
		Version:      version,
		SilenceUsage: true,
		Args:         cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(logging, nil); err != nil {
				return err
			}
			klog.SetLogFilter(names.LogFilter{})
			if errs := o.Validate(); len(errs) > 0 {
				return fmt.Errorf("invalid flags: %w", errs.ToAggregate())
			}
			flag.PrintFlags(cmd.Flags())
			// SIGTERM and SIGINT end it in order, the second one at once.
			ctx := klog.NewContext(genericapiserver.SetupSignalContext(), klog.Background())
			return o.Run(ctx, legacyregistry.Handler())
		},
	}
	fs := cmd.Flags()
	o.AddFlags(fs)
	logsapi.AddFlags(logging, fs)
	return cmd
}
