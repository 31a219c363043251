// Package cli is the kubectl plugin: one file per command, and what they have in common. What is printed is decided in the packages below
// it, which are pure. Source of arguments, meaning and default output: spec/hnc.md 4.
package cli

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Run runs the command that the process was started with, and returns the process's exit code: 0, or 1 for any failure. A pipe that is
// closed early ends the process by SIGPIPE, silently, as Go does for standard output.
func Run(version string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	e := newEnvironment(streams)
	root := NewCommand(e, version)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	e.report(cmd, err)
	return 1
}

// NewCommand returns the root command.
func NewCommand(e *Environment, version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-hns",
		Short:         "See and steer hierarchies of namespaces",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl hns"},
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("kubectl-hns version {{.Version}}\n")
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.ErrOut)
	e.flags.AddFlags(root.PersistentFlags())
	root.AddCommand(
		newTree(e), newDescribe(e), newCreate(e), newDelete(e), newSet(e), newMove(e), newPlan(e), newConfig(e),
		newGet(e), newHRQ(e), newWho(e), newExplain(e), newRelease(e), newRepo(e), newVersion(e, version),
	)
	e.completeFlag(root, "namespace", e.completeNamespaces)
	e.checkNames(root)
	return root
}

// checkNames has every command refuse flags of namespaces that are no names of namespaces, before it asks the server.
func (e *Environment) checkNames(root *cobra.Command) {
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) {
			return nil
		}
		if ns := *e.flags.Namespace; ns != "" {
			return checkNamespace(ns)
		}
		return nil
	}
}
