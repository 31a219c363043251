// Package app is the command line of hns-propagator.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // requests, leader election, work queues
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/options"
)

// NewCommand returns the command, which prints the version if it is asked to.
func NewCommand(version string) *cobra.Command {
	o := options.New()
	logging := logsapi.NewLoggingConfiguration()
	cmd := &cobra.Command{
		Use:   "hns-propagator",
		Short: "Reconciles namespaces and their objects with the hierarchies",
		Long: `Watches namespaces, hierarchies, sub-namespaces and the objects that are propagated, and writes copies of objects,
tree labels of namespaces, and sub-namespaces. Of several replicas one writes; the others keep ready to take over.`,
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
			return o.Run(ctx, legacyregistry.MustRegister, legacyregistry.Handler())
		},
	}
	fs := cmd.Flags()
	o.AddFlags(fs)
	logsapi.AddFlags(logging, fs)
	return cmd
}
