package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newRepoCommand(f *factory, streams genericiooptions.IOStreams) *cobra.Command {
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
