// Package cli is the kubectl plugin. Each command has a file with its options, which complete, validate and run it; the
// packages below, which have no clients, decide what it prints. Source of arguments, behavior and default output:
// docs/spec/hnc.md 4.
package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Run runs the command of the process's arguments and returns the exit code: 0, or 1 for any error. A pipe that is
// closed early ends the process by SIGPIPE, silently, as Go does for standard output.
func Run(version string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out, errOut := &textWriter{w: os.Stdout}, &textWriter{w: os.Stderr}
	defer errOut.flush()
	defer out.flush()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: out, ErrOut: errOut}
	f := newFactory(streams.ErrOut)
	cmd, err := newCommand(f, streams, version).ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if exit := (exitError{}); errors.As(err, &exit) {
		return exit.code
	}
	printError(streams.ErrOut, f, cmd, err)
	return 1
}

// newCommand returns the root command.
func newCommand(f *factory, streams genericiooptions.IOStreams, version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-hns",
		Short:         "Show and change hierarchies of namespaces",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl hns"},
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("kubectl-hns version {{.Version}}\n")
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	f.flags.AddFlags(root.PersistentFlags())
	root.AddCommand(
		newTreeCommand(f, streams), newDescribeCommand(f, streams), newCreateCommand(f, streams), newDeleteCommand(f, streams),
		newSetCommand(f, streams), newMoveCommand(f, streams), newApplyCommand(f, streams), newAdoptCommand(f, streams), newPlanCommand(f, streams), newConfigCommand(f, streams),
		newGetCommand(f, streams), newHRQCommand(f, streams), newWhoCommand(f, streams), newExplainCommand(f, streams), newUICommand(f, streams),
		newReleaseCommand(f, streams), newRepoCommand(f, streams), newDoctorCommand(f, streams), newMigrateCommand(f, streams), newUninstallCommand(f, streams), newVersionCommand(streams, version),
	)
	completeFlag(root, "namespace", f.completeNamespaces)
	validateNamespaceFlag(root, f)
	return root
}

// validateNamespaceFlag makes every command reject an invalid --namespace before it sends a request.
func validateNamespaceFlag(root *cobra.Command, f *factory) {
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) {
			return nil
		}
		if ns := *f.flags.Namespace; ns != "" {
			return validateNamespace(ns)
		}
		return nil
	}
}

// options are the flags and arguments of a command.
type options interface {
	// complete fills in what depends on the arguments and on the kubeconfig.
	complete(cmd *cobra.Command, args []string) error
	// validate returns an error for invalid or contradictory flags. It sends no request.
	validate() error
	run(ctx context.Context) error
}

// runOptions completes, validates and runs a command's options.
func runOptions(o options) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := o.complete(cmd, args); err != nil {
			return err
		}
		if err := o.validate(); err != nil {
			return err
		}
		return o.run(cmd.Context())
	}
}
