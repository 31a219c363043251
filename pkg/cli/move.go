package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

type moveOptions struct {
	genericiooptions.IOStreams
	factory *factory

	namespace, parent string
	root              bool
	dryRun            dryRunFlag
	wait              waitFlags
}

func newMoveCommand(f *factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &moveOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "move NAMESPACE NEW-PARENT",
		Short: "Move a namespace, with everything below it, to another parent",
		Long: `Move a namespace, with everything below it, to another parent.

The move is one write, of the parent in the hierarchy of the namespace. It usually requires being admin of the namespace, of the old parent and of
the new one; the server's documentation has the rules. A sub-namespace cannot be moved.`,
		Example: `  kubectl hns move team-a globex --wait
  kubectl hns move team-a --root`,
		Args:              namespaceArgs(1, 2),
		ValidArgsFunction: completeArgs(2, f.completeNamespaces),
		RunE:              runOptions(o),
	}
	cmd.Flags().BoolVarP(&o.root, "root", "r", false, "Make the namespace the root of its own tree")
	o.dryRun.addFlag(cmd.Flags())
	o.wait.addFlags(cmd.Flags(), waitForTreeLabelsUsage)
	return cmd
}

func (o *moveOptions) complete(_ *cobra.Command, args []string) error {
	o.namespace = args[0]
	if len(args) == 2 {
		o.parent = args[1]
	}
	return nil
}

func (o *moveOptions) validate() error {
	if err := o.wait.validate(&o.dryRun); err != nil {
		return err
	}
	switch {
	case o.root && o.parent != "":
		return usageErrorf("--root and a new parent contradict each other; give one of them")
	case !o.root && o.parent == "":
		return usageErrorf("name the new parent, or give --root")
	}
	return nil
}

func (o *moveOptions) run(ctx context.Context) error {
	c, err := o.factory.clients()
	if err != nil {
		return err
	}
	before, err := c.namespaces.Get(ctx, o.namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !o.dryRun.client() {
		if _, err := patchParent(ctx, c, o.namespace, o.parent, o.dryRun.options()); err != nil {
			return &prefixedError{fmt.Sprintf("Could not move %s.", o.namespace), err}
		}
	}
	if _, err := fmt.Fprintf(o.Out, "%s%s\n", moved(o.namespace, o.parent), o.dryRun.suffix()); err != nil || !o.wait.enabled {
		return err
	}
	return waitForTreeLabels(ctx, c, &o.wait, o.ErrOut, before, o.parent)
}
