package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
)

type deleteOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	child, parent string
	cascade       bool
	dryRun        DryRunFlag
	wait          waitFlags
}

func newDeleteCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &deleteOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:               "delete CHILD",
		Short:             "Delete a sub-namespace",
		Example:           "  kubectl hns delete service-1 -n team-a",
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: CompleteArgs(1, f.completeChildren),
		RunE:              RunOptions(o),
	}
	cmd.Flags().BoolVarP(&o.cascade, "allow-cascading-deletion", "a", false, "Allow deletion of the sub-namespaces below as well")
	o.dryRun.AddFlag(cmd.Flags())
	o.wait.addFlags(cmd.Flags(), "until the namespace is gone")
	return cmd
}

func (o *deleteOptions) Complete(_ *cobra.Command, args []string) (err error) {
	o.child = args[0]
	o.parent, err = o.factory.namespace()
	return err
}

func (o *deleteOptions) Validate() error { return o.wait.validate(&o.dryRun) }

func (o *deleteOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	if o.cascade {
		if err := o.allowCascading(ctx, c); err != nil {
			return err
		}
	}
	subnamespaces := c.Hierarchy.HncV1beta1().Subnamespaces(o.parent)
	if !o.dryRun.Client() {
		if err := subnamespaces.Delete(ctx, o.child, metav1.DeleteOptions{DryRun: o.dryRun.options()}); err != nil {
			return &prefixedError{"Could not delete subnamespace anchor.", err}
		}
	}
	_, err = fmt.Fprintf(o.Out, "Successfully deleted %q subnamespace anchor in %q namespace%s\n", o.child, o.parent, o.dryRun.Suffix())
	if err != nil || !o.wait.enabled {
		return err
	}
	return o.wait.poll(ctx, o.ErrOut, func(ctx context.Context) (string, error) {
		// The Subnamespace goes last. Users allowed to delete it can usually read it, but not always the namespace.
		_, err := subnamespaces.Get(ctx, o.child, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return o.child + " is being deleted", err
	})
}

// allowCascading allows cascading deletion of the namespace.
func (o *deleteOptions) allowCascading(ctx context.Context, c *Clients) error {
	if _, err := c.namespaces.Get(ctx, o.child, metav1.GetOptions{}); err != nil {
		return err
	}
	h, err := getHierarchy(ctx, c, o.child)
	if err != nil {
		return err
	}
	if ptr.Deref(h.Spec.AllowCascadingDeletion, false) {
		_, err := fmt.Fprintf(o.Out, "Cascading deletion for '%s' is already set to 'true'; unchanged\n", o.child)
		return err
	}
	if _, err := fmt.Fprintf(o.Out, "Allowing cascading deletion on '%s'%s\n", o.child, o.dryRun.Suffix()); err != nil {
		return err
	}
	change := hierarchyChange{cascade: ptr.To(true)}
	change.apply(h)
	return writeHierarchy(ctx, c, h, change, &o.dryRun)
}
