package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newVersion(e *Environment, version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the plugin's version",
		Args:  exactly(0, "none"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(e.Out, "kubectl-hns version %s\n", version)
			return err
		},
	}
}
