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
	factory *Factory

	namespace, parent string
	root              bool
	dryRun            DryRunFlag
	wait              waitFlags
}

func newMoveCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &moveOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "move NAMESPACE NEW-PARENT",
		Short: "Move a namespace, with everything below it, to another parent",
		Long: `Move a namespace, with everything below it, to another parent.

The move is one write, of the parent in the hierarchy of the namespace. It usually requires being admin of the namespace, of the new parent, and of
the nearest common ancestor of the old and the new parent, or of the root that it leaves. A sub-namespace cannot be moved.`,
		Example: `  kubectl hns move team-a globex --wait
  kubectl hns move team-a --root`,
		Args:              namespaceArgs(1, 2),
		ValidArgsFunction: CompleteArgs(2, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	cmd.Flags().BoolVarP(&o.root, "root", "r", false, "Make the namespace the root of its own tree")
	o.dryRun.AddFlag(cmd.Flags())
	o.wait.addFlags(cmd.Flags(), waitForTreeLabelsUsage)
	return cmd
}

func (o *moveOptions) Complete(_ *cobra.Command, args []string) error {
	o.namespace = args[0]
	if len(args) == 2 {
		o.parent = args[1]
	}
	return nil
}

func (o *moveOptions) Validate() error {
	if err := o.wait.validate(&o.dryRun); err != nil {
		return err
	}
	switch {
	case o.root && o.parent != "":
		return UsageErrorf("--root and a new parent contradict each other; give one of them")
	case !o.root && o.parent == "":
		return UsageErrorf("name the new parent, or give --root")
	}
	return nil
}

func (o *moveOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	before, err := c.namespaces.Get(ctx, o.namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !o.dryRun.Client() {
		if _, err := patchParent(ctx, c, o.namespace, o.parent, o.dryRun.options()); err != nil {
			return &prefixedError{fmt.Sprintf("Could not move %s.", o.namespace), err}
		}
	}
	if _, err := fmt.Fprintf(o.Out, "%s%s\n", moved(o.namespace, o.parent), o.dryRun.Suffix()); err != nil || !o.wait.enabled {
		return err
	}
	return waitForTreeLabels(ctx, c, &o.wait, o.ErrOut, before, o.parent)
}
