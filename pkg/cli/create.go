package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func newCreate(e *Environment) *cobra.Command {
	var (
		dry  dryRun
		wait waiting
	)
	cmd := &cobra.Command{
		Use:     "create CHILD",
		Short:   "Create a sub-namespace",
		Example: "  kubectl hns create service-1 -n team-a",
		Args:    namespaceArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wait.check(&dry); err != nil {
				return err
			}
			parent, err := e.namespace()
			if err != nil {
				return err
			}
			return e.create(cmd.Context(), args[0], parent, &dry, &wait)
		},
	}
	dry.addFlag(cmd.Flags())
	wait.addFlags(cmd.Flags(), "until the namespace can be used, with all that it inherits")
	return cmd
}

func (e *Environment) create(ctx context.Context, child, parent string, dry *dryRun, wait *waiting) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: child, Namespace: parent}}
	if !dry.client() {
		line := e.progress()
		if wait.on {
			line.show("creating %s below %s ...", child, parent)
		}
		_, err := c.hierarchy.HncV1beta1().Subnamespaces(parent).Create(ctx, sub, metav1.CreateOptions{DryRun: dry.options()})
		line.end()
		if err != nil {
			return &failure{"Could not create subnamespace anchor.", err}
		}
	}
	if _, err := fmt.Fprintf(e.Out, "Successfully created %q subnamespace anchor in %q namespace%s\n", child, parent, dry.suffix()); err != nil || !wait.on {
		return err
	}
	return e.wait(ctx, wait, func(ctx context.Context) (string, error) {
		sub, err := c.hierarchy.HncV1beta1().Subnamespaces(parent).Get(ctx, child, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		for _, condition := range sub.Status.Conditions {
			if condition.Type == hnc.ConditionReady {
				if condition.Status == metav1.ConditionTrue {
					return "", nil
				}
				return fmt.Sprintf("%s is not ready: %s: %s", child, condition.Reason, condition.Message), nil
			}
		}
		return child + " is not ready", nil
	})
}

// waiting are the flags --wait and --timeout.
type waiting struct {
	on      bool
	timeout time.Duration
}
