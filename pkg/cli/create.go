package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

type createOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	child, parent string
	dryRun        DryRunFlag
	wait          waitFlags
}

func newCreateCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &createOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:     "create CHILD",
		Short:   "Create a sub-namespace",
		Example: "  kubectl hns create service-1 -n team-a",
		Args:    namespaceArgs(1, 1),
		RunE:    RunOptions(o),
	}
	o.dryRun.AddFlag(cmd.Flags())
	o.wait.addFlags(cmd.Flags(), "until the namespace is ready, with everything that it inherits")
	return cmd
}

func (o *createOptions) Complete(_ *cobra.Command, args []string) (err error) {
	o.child = args[0]
	o.parent, err = o.factory.namespace()
	return err
}

func (o *createOptions) Validate() error { return o.wait.validate(&o.dryRun) }

func (o *createOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	if !o.dryRun.Client() {
		if err := o.create(ctx, c); err != nil {
			return &prefixedError{"Could not create subnamespace anchor.", err}
		}
	}
	_, err = fmt.Fprintf(o.Out, "Successfully created %q subnamespace anchor in %q namespace%s\n", o.child, o.parent, o.dryRun.Suffix())
	if err != nil || !o.wait.enabled {
		return err
	}
	return o.wait.poll(ctx, o.ErrOut, func(ctx context.Context) (string, error) { return o.pending(ctx, c) })
}

func (o *createOptions) create(ctx context.Context, c *Clients) error {
	line := NewProgress(o.ErrOut)
	defer line.Clear()
	if o.wait.enabled {
		line.Showf("creating %s below %s ...", o.child, o.parent)
	}
	sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: o.child, Namespace: o.parent}}
	_, err := c.Hierarchy.HncV1beta1().Subnamespaces(o.parent).Create(ctx, sub, metav1.CreateOptions{DryRun: o.dryRun.options()})
	return err
}

// pending returns why the sub-namespace is not ready, "" if it is.
func (o *createOptions) pending(ctx context.Context, c *Clients) (string, error) {
	sub, err := c.Hierarchy.HncV1beta1().Subnamespaces(o.parent).Get(ctx, o.child, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for _, condition := range sub.Status.Conditions {
		if condition.Type == hnc.ConditionReady {
			if condition.Status == metav1.ConditionTrue {
				return "", nil
			}
			return fmt.Sprintf("%s is not ready: %s: %s", o.child, condition.Reason, condition.Message), nil
		}
	}
	return o.child + " is not ready", nil
}
