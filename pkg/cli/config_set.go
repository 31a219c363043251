package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// configSetOptions are those of `config set`: of a kind's mode, which has the options of HNC's set-resource, or of a
// setting.
type configSetOptions struct {
	setResourceOptions

	key, value string
}

func newConfigSetCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &configSetOptions{setResourceOptions: setResourceOptions{IOStreams: streams, factory: f}}
	cmd := &cobra.Command{
		Use:   "set (RESOURCE[.GROUP] MODE | SETTING VALUE)",
		Short: "Set how a kind is propagated, or another setting",
		Long: `Set how a kind is propagated: Propagate, AllowPropagate, Remove or Ignore. Or set another setting: a field of the configuration, such as
rules.managedNamespaceLabels. The value is text or YAML; lists of texts may be separated by commas.

` + grantHelp,
		Example: `  kubectl hns config set networkpolicies.networking.k8s.io Propagate
  kubectl hns config set creatorRole admin
  kubectl hns config set subnamespaceNames.prefix Parent
  kubectl hns config set rules.managedNamespaceLabels team,env
  kubectl hns config set rules.skippedObjects '[{matchLabels: {team: none}}]'`,
		Args: ExactArgs(2, "a kind and its mode, or a setting and its value"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return CompleteArgs(1, f.completeSettings)(cmd, args, word)
			case len(args) == 1 && settings[args[0]] == nil:
				return matching(modeNames, nil, word), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: RunOptions(o),
	}
	cmd.Flags().BoolVar(&o.force, "force", false, forceUsage)
	cmd.Flags().BoolVar(&o.grant, "grant", true, grantUsage)
	o.dryRun.AddFlag(cmd.Flags())
	return cmd
}

func (o *configSetOptions) Complete(cmd *cobra.Command, args []string) error {
	o.key, o.value = args[0], args[1]
	if settings[o.key] == nil {
		o.granting = o.grant && cmd.Flags().Changed("grant")
		o.entry = kindArg(o.key)
		o.entry.Mode = v1beta1.SynchronizationMode(canonicalMode(o.value))
	}
	return nil
}

func (o *configSetOptions) Validate() error {
	if err := unknownSetting(o.key); err != nil {
		return err
	}
	if settings[o.key] == nil && !slices.Contains(modeNames, string(o.entry.Mode)) {
		return UsageErrorf("%q is not one of the modes %s", o.value, strings.Join(modeNames, ", "))
	}
	return nil
}

func (o *configSetOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	err = configure(ctx, c, o.Out, &o.dryRun, func(spec *v1beta1.HNCConfigurationSpec) error {
		if settings[o.key] != nil {
			return changeSetting(spec, o.key, &o.value)
		}
		return o.apply(spec)
	})
	if err != nil || settings[o.key] != nil || o.entry.Mode == v1beta1.Ignore {
		return err
	}
	return o.checkPropagator(ctx, c)
}

// configure changes the configuration, and says whether that changes anything.
func configure(ctx context.Context, c *Clients, out io.Writer, dryRun *DryRunFlag, change func(*v1beta1.HNCConfigurationSpec) error) error {
	changed, err := changeConfiguration(ctx, c, dryRun, change)
	if err != nil {
		return err
	}
	result := "unchanged"
	if changed {
		result = "configured"
	}
	_, err = fmt.Fprintf(out, "hncconfiguration.%s/%s %s%s\n", hnc.GroupName, hnc.ConfigurationName, result, dryRun.Suffix())
	return err
}

// completeSettings completes kinds and settings.
func (f *Factory) completeSettings(cmd *cobra.Command, word string) []string {
	return append(f.CompleteResources(cmd, word), settingNames()...)
}

func newConfigUnsetCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &configUnsetOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "unset (RESOURCE[.GROUP] | SETTING)",
		Short: "Stop propagating a kind, whose copies stay, or return a setting to its default",
		Example: `  kubectl hns config unset networkpolicies.networking.k8s.io
  kubectl hns config unset rules.managedNamespaceLabels
  kubectl hns config unset rules`,
		Args:              ExactArgs(1, "a kind or a setting"),
		ValidArgsFunction: CompleteArgs(1, f.completeSettings),
		RunE:              RunOptions(o),
	}
	o.dryRun.AddFlag(cmd.Flags())
	return cmd
}

type configUnsetOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	key    string
	dryRun DryRunFlag
}

func (o *configUnsetOptions) Complete(_ *cobra.Command, args []string) error {
	o.key = args[0]
	return nil
}

func (o *configUnsetOptions) Validate() error { return unknownSetting(o.key) }

func (o *configUnsetOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	return configure(ctx, c, o.Out, &o.dryRun, func(spec *v1beta1.HNCConfigurationSpec) error {
		if settings[o.key] != nil {
			return changeSetting(spec, o.key, nil)
		}
		return o.factory.removeKind(spec, kindArg(o.key))
	})
}
