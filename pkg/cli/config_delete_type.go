package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

type deleteTypeOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	group, resource string
	dryRun          DryRunFlag
}

func newDeleteTypeCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &deleteTypeOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:     "delete-type",
		Hidden:  true,
		Short:   "Stop propagating a kind; its copies stay",
		Example: "  kubectl hns config delete-type --group networking.k8s.io --resource networkpolicies",
		Args:    ExactArgs(0, "none: --group and --resource name the kind"),
		RunE:    RunOptions(o),
	}
	cmd.Flags().StringVar(&o.group, "group", "", "The resource's API group; empty for any group that has the resource")
	cmd.Flags().StringVar(&o.resource, "resource", "", "The resource's plural name")
	o.dryRun.AddFlag(cmd.Flags())
	return cmd
}

func (o *deleteTypeOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *deleteTypeOptions) Validate() error {
	if o.resource == "" {
		return UsageErrorf("name the kind by --resource, and by --group if it is not in the core group")
	}
	return nil
}

func (o *deleteTypeOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	changed, err := changeConfiguration(ctx, c, &o.dryRun, func(spec *v1beta1.HNCConfigurationSpec) error {
		return o.factory.removeKind(spec, v1beta1.ResourceSpec{Group: o.group, Resource: o.resource})
	})
	if err != nil {
		return err
	}
	if !changed {
		_, err = fmt.Fprintf(o.Out, "Nothing to delete; No configuration for type with group: %s, resource: %s\n", o.group, o.resource)
		return err
	}
	_, err = fmt.Fprintf(o.Out, "Configuration for type with group: %s, resource: %s is deleted%s\n", o.group, o.resource, o.dryRun.Suffix())
	return err
}
