package cli

import (
	"context"
	"fmt"
	"slices"

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
	cmd.Flags().StringVar(&o.group, "group", "", "The resource's API group; empty for the core group")
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
	return changeConfiguration(ctx, c, o.Out, &o.dryRun, func(config *v1beta1.HNCConfiguration) (string, bool, error) {
		before := len(config.Spec.Resources)
		config.Spec.Resources = slices.DeleteFunc(config.Spec.Resources, func(r v1beta1.ResourceSpec) bool {
			return r.Group == o.group && r.Resource == o.resource
		})
		if len(config.Spec.Resources) == before {
			return fmt.Sprintf("Nothing to delete; No configuration for type with group: %s, resource: %s\n", o.group, o.resource), false, nil
		}
		return fmt.Sprintf("Configuration for type with group: %s, resource: %s is deleted%s\n", o.group, o.resource, o.dryRun.Suffix()), true, nil
	})
}
