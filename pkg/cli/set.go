package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
)

type setOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	namespace string
	parent    string
	flags     *pflag.FlagSet
	change    hierarchyChange
	dryRun    DryRunFlag
	wait      waitFlags
}

func newSetCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &setOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "set NAMESPACE",
		Short: "Change a namespace's parent, or whether deletion cascades",
		Example: `  kubectl hns set team-a --parent acme
  kubectl hns set team-a --root
  kubectl hns set team-a --allow-cascading-deletion`,
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: CompleteArgs(1, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	cmd.Flags().BoolP("root", "r", false, "Make the namespace a root")
	cmd.Flags().StringVarP(&o.parent, "parent", "p", "", "Give the namespace this parent")
	cmd.Flags().BoolP("allow-cascading-deletion", "a", false, "Allow deletion of the sub-namespaces below along with the namespace")
	cmd.Flags().BoolP("forbid-cascading-deletion", "f", false, "Forbid deletion of the sub-namespaces below along with the namespace (-f as in HNC's plugin)")
	CompleteFlag(cmd, "parent", f.CompleteNamespaces)
	o.dryRun.AddFlag(cmd.Flags())
	o.wait.addFlags(cmd.Flags(), waitForTreeLabelsUsage)
	return cmd
}

func (o *setOptions) Complete(cmd *cobra.Command, args []string) error {
	o.namespace, o.flags = args[0], cmd.Flags()
	switch {
	// As in HNC's client, only whether the flag is given counts: --root=false means --root.
	case o.flags.Changed("root"):
		o.change.parent = ptr.To("")
	case o.flags.Changed("parent"):
		o.change.parent = &o.parent
	}
	if o.flags.Changed("allow-cascading-deletion") || o.flags.Changed("forbid-cascading-deletion") {
		o.change.cascade = ptr.To(o.flags.Changed("allow-cascading-deletion"))
	}
	return nil
}

func (o *setOptions) Validate() error {
	if err := validateExclusive(o.flags, "root", "parent"); err != nil {
		return err
	}
	if err := validateExclusive(o.flags, "allow-cascading-deletion", "forbid-cascading-deletion"); err != nil {
		return err
	}
	if err := validateParent(o.flags); err != nil {
		return err
	}
	return o.wait.validate(&o.dryRun)
}

func (o *setOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	before, err := c.namespaces.Get(ctx, o.namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	h, err := getHierarchy(ctx, c, o.namespace)
	if err != nil {
		return err
	}
	messages, changes := o.change.apply(h)
	if changes == 0 {
		messages = append(messages, "No changes made")
	}
	if _, err := fmt.Fprint(o.Out, lines(messages)); err != nil || changes == 0 {
		return err
	}
	if err := writeHierarchy(ctx, c, h, o.change, &o.dryRun); err != nil {
		return err
	}
	properties := "1 property"
	if changes > 1 {
		properties = fmt.Sprintf("%d properties", changes)
	}
	// The spelling is HNC's, which users parse.
	_, err = fmt.Fprintf(o.Out, "Succesfully updated %s of the hierarchical configuration of %s%s\n", //nolint:misspell // As said above.
		properties, o.namespace, o.dryRun.Suffix())
	if err != nil || !o.wait.enabled || o.change.parent == nil {
		return err
	}
	return waitForTreeLabels(ctx, c, &o.wait, o.ErrOut, before, h.Spec.Parent)
}
