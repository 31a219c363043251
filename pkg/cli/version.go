package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// annotationVersion is the annotation of root commands with the version of the executable.
const annotationVersion = "version"

// addVersionFlag adds --version to a root command. Cobra's own flag would need a template to print the executable's
// name, and the linker keeps all exported methods in executables with templates: 20 MB.
func addVersionFlag(root *cobra.Command) {
	var show bool
	root.Flags().BoolVarP(&show, "version", "v", false, "version for "+root.DisplayName())
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if show {
			return printVersion(cmd)
		}
		return run(cmd, args)
	}
}

func printVersion(cmd *cobra.Command) error {
	root := cmd.Root()
	name := strings.ReplaceAll(root.DisplayName(), " ", "-")
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s version %s\n", name, root.Annotations[annotationVersion])
	return err
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the plugin's version",
		Args:  ExactArgs(0, "none"),
		RunE:  func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}
