package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func newDelete(e *Environment) *cobra.Command {
	var (
		dry     dryRun
		wait    waiting
		cascade bool
	)
	cmd := &cobra.Command{
		Use:               "delete CHILD",
		Short:             "Delete a sub-namespace",
		Example:           "  kubectl hns delete service-1 -n team-a",
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: completeArgs(1, e.completeChildren),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wait.check(&dry); err != nil {
				return err
			}
			parent, err := e.namespace()
			if err != nil {
				return err
			}
			return e.delete(cmd.Context(), args[0], parent, cascade, &dry, &wait)
		},
	}
	cmd.Flags().BoolVarP(&cascade, "allowCascadingDeletion", "a", false, "Allow that the sub-namespaces below are deleted as well")
	dry.addFlag(cmd.Flags())
	wait.addFlags(cmd.Flags(), "until the namespace is gone")
	return cmd
}

func (e *Environment) delete(ctx context.Context, child, parent string, cascade bool, dry *dryRun, wait *waiting) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	if cascade {
		if err := e.allowCascade(ctx, c, child, dry); err != nil {
			return err
		}
	}
	if !dry.client() {
		err := c.hierarchy.HncV1beta1().Subnamespaces(parent).Delete(ctx, child, metav1.DeleteOptions{DryRun: dry.options()})
		if err != nil {
			return &failure{"Could not delete subnamespace anchor.", err}
		}
	}
	if _, err := fmt.Fprintf(e.Out, "Successfully deleted %q subnamespace anchor in %q namespace%s\n", child, parent, dry.suffix()); err != nil || !wait.on {
		return err
	}
	return e.wait(ctx, wait, func(ctx context.Context) (string, error) {
		// The record goes last. Who could delete it can mostly read it, but not always the namespace.
		_, err := c.hierarchy.HncV1beta1().Subnamespaces(parent).Get(ctx, child, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return child + " is being deleted", err
	})
}

// allowCascade allows cascading deletion of a namespace.
func (e *Environment) allowCascade(ctx context.Context, c *cluster, namespace string, dry *dryRun) error {
	if _, err := c.namespaces.Get(ctx, namespace, metav1.GetOptions{}); err != nil {
		return err
	}
	h, err := getHierarchy(ctx, c, namespace)
	if err != nil {
		return err
	}
	if ptr.Deref(h.Spec.AllowCascadingDeletion, false) {
		_, err := fmt.Fprintf(e.Out, "Cascading deletion for '%s' is already set to 'true'; unchanged\n", namespace)
		return err
	}
	if _, err := fmt.Fprintf(e.Out, "Allowing cascading deletion on '%s'%s\n", namespace, dry.suffix()); err != nil {
		return err
	}
	want := change{cascade: ptr.To(true)}
	apply(h, want)
	if err := writeHierarchy(ctx, c, h, want, dry); err != nil {
		return &failure{fmt.Sprintf("Could not update the hierarchical configuration of %s.", namespace), err}
	}
	return nil
}
