package serving

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Flags are the flags of a process.
type Flags interface {
	AddFlags(fs *pflag.FlagSet)
	// Validate returns the errors in the flags.
	Validate() field.ErrorList
}

// Command completes the command of a process, which has its name, version and descriptions: with its flags and those of
// logging, and so that it calls run with a context that ends with SIGTERM or SIGINT, if the flags are valid.
func Command(cmd *cobra.Command, flags Flags, run func(context.Context) error) *cobra.Command {
	logging := logsapi.NewLoggingConfiguration()
	cmd.SilenceUsage, cmd.Args = true, cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := logsapi.ValidateAndApply(logging, nil); err != nil {
			return err
		}
		klog.SetLogFilter(names.LogFilter{})
		if errs := flags.Validate(); len(errs) > 0 {
			return fmt.Errorf("invalid flags: %w", errs.ToAggregate())
		}
		flag.PrintFlags(cmd.Flags())
		// SIGTERM and SIGINT end it in order, the second one at once.
		return run(klog.NewContext(genericapiserver.SetupSignalContext(), klog.Background()))
	}
	flags.AddFlags(cmd.Flags())
	logsapi.AddFlags(logging, cmd.Flags())
	return cmd
}
