package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
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
	if err := o.delete(ctx, c); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Out, "Successfully deleted %q subnamespace anchor in %q namespace%s\n", o.child, o.parent, o.dryRun.Suffix())
	if err != nil || !o.wait.enabled {
		return err
	}
	return o.wait.poll(ctx, o.ErrOut, func(ctx context.Context) (string, error) {
		// The Subnamespace goes last. Users allowed to delete it can usually read it, but not always the namespace.
		_, err := c.Hierarchy.HncV1beta1().Subnamespaces(o.parent).Get(ctx, o.child, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return o.child + " is being deleted", err
	})
}

// delete deletes the Subnamespace. With -a, it allows cascading deletion of the namespace first.
func (o *deleteOptions) delete(ctx context.Context, c *Clients) error {
	prefix := "Could not delete subnamespace anchor."
	if o.cascade {
		allowed, err := o.allowCascading(ctx, c)
		if err != nil {
			return err
		}
		if allowed {
			prefix = fmt.Sprintf("Could not delete subnamespace anchor. Cascading deletion of %s stays allowed.", o.child)
		}
	}
	if o.dryRun.Client() {
		return nil
	}
	err := c.Hierarchy.HncV1beta1().Subnamespaces(o.parent).Delete(ctx, o.child, metav1.DeleteOptions{DryRun: o.dryRun.options()})
	if err != nil {
		return &prefixedError{prefix, err}
	}
	return nil
}

// allowCascading allows cascading deletion of the namespace, if that is the sub-namespace to be deleted. It reports
// whether it has changed that.
func (o *deleteOptions) allowCascading(ctx context.Context, c *Clients) (bool, error) {
	sub, err := c.Hierarchy.HncV1beta1().Subnamespaces(o.parent).Get(ctx, o.child, metav1.GetOptions{})
	if err != nil {
		return false, &prefixedError{"Could not delete subnamespace anchor.", err}
	}
	ns, err := c.namespaces.Get(ctx, o.child, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	if hnc.IsVoid(sub.Annotations) || managedkeys.SubnamespaceOf(ns.Annotations) != o.parent {
		return false, fmt.Errorf("nothing was changed: namespace %s is not a sub-namespace of %s, and is not deleted with the Subnamespace; repeat without --allow-cascading-deletion", o.child, o.parent)
	}
	h, err := getHierarchy(ctx, c, o.child)
	if err != nil {
		return false, err
	}
	if ptr.Deref(h.Spec.AllowCascadingDeletion, false) {
		_, err := fmt.Fprintf(o.Out, "Cascading deletion for '%s' is already set to 'true'; unchanged\n", o.child)
		return false, err
	}
	if _, err := fmt.Fprintf(o.Out, "Allowing cascading deletion on '%s'%s\n", o.child, o.dryRun.Suffix()); err != nil {
		return false, err
	}
	change := hierarchyChange{cascade: ptr.To(true)}
	change.apply(h)
	return !o.dryRun.Enabled(), writeHierarchy(ctx, c, h, change, &o.dryRun)
}
