// Package cli is the kubectl plugin. Each command has a file with its options, which complete, validate and run it; the
// packages below, which have no clients, decide what it prints, except packages repo and migrate: these are commands
// that are plugins of their own. Source of arguments, behavior and default output: docs/spec/hnc.md 4.
package cli

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
)

// Run runs the plugin `kubectl hns` as Main does.
func Run(version string) int { return Main(version, NewCommand) }

// Main runs the command of the process's arguments and returns the exit code. A pipe that is
// closed early ends the process by SIGPIPE, silently, as Go does for standard output. Build returns the root command.
func Main(version string, build func(*Factory, genericiooptions.IOStreams) *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal, restore the default: a second one ends the process even if a read of standard input
	// blocks.
	context.AfterFunc(ctx, stop)
	klog.SetLogger(klog.Logger{}) // Libraries log errors that they also return, and those of requests that are no longer needed.
	out, errOut := &textWriter{w: os.Stdout}, &textWriter{w: os.Stderr}
	defer errOut.flush()
	defer out.flush()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: out, ErrOut: errOut}
	f := NewFactory(streams.ErrOut)
	cmd, err := NewRoot(f, streams, version, build).ExecuteContextC(ctx)
	if err != nil {
		PrintError(streams.ErrOut, f, cmd, err)
	}
	return exitCode(err)
}

// NewRoot returns the root command of a plugin, with what is common to all of them.
func NewRoot(f *Factory, streams genericiooptions.IOStreams, version string, build func(*Factory, genericiooptions.IOStreams) *cobra.Command) *cobra.Command {
	root := build(f, streams)
	display := "kubectl hns"
	if name := root.Name(); name != pluginName {
		// The main plugin has the commands that are not about this one.
		display += " " + name
		root.CompletionOptions.DisableDefaultCmd = true
	}
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: display, annotationVersion: version}
	root.SilenceErrors, root.SilenceUsage = true, true
	addVersionFlag(root)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	f.Flags.AddFlags(root.PersistentFlags())
	root.SetGlobalNormalizationFunc(kebabCase)
	CompleteFlag(root, "namespace", f.CompleteNamespaces)
	validateNamespaceFlag(root, f)
	return root
}

// NewCommand returns the root command of the plugin `kubectl hns`.
func NewCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use:   pluginName,
		Short: "Show and change hierarchies of namespaces",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Look", append(onlyOwn(f,
			newTreeCommand(f, streams), newDescribeCommand(f, streams), newWhoCommand(f, streams), newWhyCommand(f, streams), newPlanCommand(f, streams),
			newQuotaCommand(f, streams), newUICommand(f, streams), newViewCommand(f, streams),
		), newGetCommand(f, streams))},
		{"Change", onlyOwn(f,
			newCreateCommand(f, streams), newDeleteCommand(f, streams), newMoveCommand(f, streams), newSetCommand(f, streams), newAdoptCommand(f, streams),
			newDetachCommand(f, streams),
		)},
		{"Configure", append(onlyOwn(f, newConfigCommand(f, streams)), newPlugin("repo", "Work with a hierarchical repository of policy"))},
		{"Operate", []*cobra.Command{
			newPreflightCommand(f, streams), newDoctorCommand(f, streams), newResumeCommand(f, streams),
			newPlugin("migrate", "Move the hierarchies of a cluster from HNC to hns-apiserver"), newUninstallCommand(f, streams),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
		}
		root.AddCommand(group.commands...)
	}
	root.AddCommand(newVersionCommand(f, streams))
	return root
}

// validateNamespaceFlag makes every command reject an invalid --namespace before it sends a request.
func validateNamespaceFlag(root *cobra.Command, f *Factory) {
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) {
			return nil
		}
		if ns := *f.Flags.Namespace; ns != "" {
			return ValidateNamespace(ns)
		}
		return nil
	}
}

// options are the flags and arguments of a command.
type options interface {
	// Complete fills in what depends on the arguments and on the kubeconfig.
	Complete(cmd *cobra.Command, args []string) error
	// Validate returns an error for invalid or contradictory flags. It sends no request.
	Validate() error
	Run(ctx context.Context) error
}

// RunOptions completes, validates and runs a command's options.
func RunOptions(o options) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := o.Complete(cmd, args); err != nil {
			return err
		}
		if err := o.Validate(); err != nil {
			return err
		}
		return o.Run(cmd.Context())
	}
}

// kebabCase accepts the flags of HNC's plugin that are in camel case.
func kebabCase(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "allowCascadingDeletion":
		name = "allow-cascading-deletion"
	case "forbidCascadingDeletion":
		name = "forbid-cascading-deletion"
	}
	return pflag.NormalizedName(name)
}
