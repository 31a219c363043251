package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// What both commands that set modes have.
const (
	grantHelp = `If hns-propagator lacks the permissions to read and write objects of the kind, a ClusterRole grants them. That requires the permission to create
ClusterRoles, and those permissions. Without them, or with --grant=false, the command fails and says which command grants them: the configuration is
stored, but takes no effect until then.`
	forceUsage = "Propagate a kind that was ignored, although that may overwrite objects"
	grantUsage = "Grant hns-propagator the permissions on the kind that it lacks, with a ClusterRole"
)

type setResourceOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	entry v1beta1.ResourceSpec
	mode  string
	force bool
	grant bool
	// granting is true if --grant was given.
	granting bool
	dryRun   DryRunFlag
}

func newSetResourceCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &setResourceOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:    "set-resource RESOURCE",
		Hidden: true,
		Short:  "Set how a kind is propagated, as in HNC",
		Long: `Set how a kind is propagated.

` + grantHelp,
		Example: `  kubectl hns config set-resource networkpolicies --group networking.k8s.io --mode Propagate
  kubectl hns config set-resource widgets --group example.com --mode Propagate --grant=false`,
		Args: ExactArgs(1, "the plural name of one resource"),
		ValidArgsFunction: CompleteArgs(1, func(cmd *cobra.Command, word string) []string {
			var plurals []string
			for _, name := range f.CompleteResources(cmd, word) {
				plural, _, _ := strings.Cut(name, ".")
				plurals = append(plurals, plural)
			}
			return plurals
		}),
		RunE: RunOptions(o),
	}
	cmd.Flags().StringVar(&o.entry.Group, "group", "", "The resource's API group; empty for any group that has the resource")
	cmd.Flags().StringVar(&o.mode, "mode", "", "One of: "+strings.Join(modeNames, ", "))
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, forceUsage)
	cmd.Flags().BoolVar(&o.grant, "grant", true, grantUsage)
	CompleteFlag(cmd, "mode", func(*cobra.Command, string) []string { return modeNames })
	o.dryRun.AddFlag(cmd.Flags())
	return cmd
}

func (o *setResourceOptions) Complete(cmd *cobra.Command, args []string) error {
	o.granting = o.grant && cmd.Flags().Changed("grant")
	o.entry.Resource = args[0]
	o.entry.Mode = v1beta1.SynchronizationMode(canonicalMode(o.mode))
	return nil
}

func (o *setResourceOptions) Validate() error {
	if o.mode != "" && !slices.Contains(modeNames, string(o.entry.Mode)) {
		return UsageErrorf("--mode=%s is not one of %s", o.mode, strings.Join(modeNames, ", "))
	}
	return nil
}

func (o *setResourceOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	if _, err := changeConfiguration(ctx, c, &o.dryRun, o.apply); err != nil || o.entry.Mode == v1beta1.Ignore {
		return err
	}
	return o.checkPropagator(ctx, c)
}

// apply changes the entry of the kind, or adds one.
func (o *setResourceOptions) apply(spec *v1beta1.HNCConfigurationSpec) error {
	i, err := o.factory.entryOf(spec.Resources, o.entry)
	if err != nil {
		return err
	}
	if i < 0 {
		spec.Resources = append(spec.Resources, o.entry)
		return nil
	}
	if spec.Resources[i].Mode == v1beta1.Ignore && modes.New(o.entry, "").Copies() && !o.force {
		return fmt.Errorf("%s were ignored: propagating them may overwrite objects in descendants with those of their ancestors.\n"+
			"Set the mode to Remove first, check what is left, then set it to %s; or give --force", o.entry.Resource, o.entry.Mode)
	}
	spec.Resources[i].Mode = o.entry.Mode
	return nil
}
