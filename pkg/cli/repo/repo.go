// Package repo is the plugin `kubectl hns repo`, about hierarchical repositories of policy.
package repo

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
)

// NewCommand returns the root command of kubectl-hns-repo.
func NewCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repo",
		Short: "Work with a hierarchical repository of policy",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRepoInitCommand(streams), newRepoVetCommand(f, streams), newRepoHydrateCommand(f, streams), newRepoDiffCommand(f, streams),
		newRepoApplyCommand(f, streams), newRepoStatusCommand(f, streams), newRepoImportCommand(f, streams))
	return cmd
}
