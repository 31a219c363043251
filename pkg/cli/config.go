package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
)

// modes are how a kind can be propagated.
var modes = []string{string(v1beta1.Propagate), string(v1beta1.AllowPropagate), string(v1beta1.Remove), string(v1beta1.Ignore)}

func newConfig(e *Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change which kinds are propagated in the cluster",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSetResource(e), newDeleteType(e), newDescribeConfig(e))
	return cmd
}

func newSetResource(e *Environment) *cobra.Command {
	var (
		want  v1beta1.ResourceSpec
		mode  string
		force bool
		grant bool
		dry   dryRun
	)
	cmd := &cobra.Command{
		Use:   "set-resource RESOURCE",
		Short: "Say how a kind is propagated",
		Long: `Say how a kind is propagated.

It fails if hnc-propagator lacks the rights to read and write objects of the kind: the configuration is stored, but takes no effect until it has
them. With --grant, a ClusterRole gives them to it.`,
		Example: `  kubectl hns config set-resource networkpolicies --group networking.k8s.io --mode Propagate
  kubectl hns config set-resource widgets --group example.com --mode Propagate --grant`,
		Args: exactly(1, "the plural name of one resource"),
		ValidArgsFunction: completeArgs(1, func(cmd *cobra.Command, word string) []string {
			var plain []string
			for _, name := range e.completeResources(cmd, word) {
				plural, _, _ := strings.Cut(name, ".")
				plain = append(plain, plural)
			}
			return plain
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			want.Resource = args[0]
			if want.Mode = v1beta1.SynchronizationMode(titled(mode)); want.Mode != "" && !slices.Contains(modes, string(want.Mode)) {
				return usage("--mode=%s is none of %s", mode, strings.Join(modes, ", "))
			}
			err := e.changeConfiguration(cmd.Context(), &dry, func(c *v1beta1.HNCConfiguration) (string, bool, error) {
				return "", true, setResource(&c.Spec, want, force)
			})
			if err != nil || want.Mode == v1beta1.Ignore {
				return err
			}
			return e.checkPropagator(cmd.Context(), want, grant, &dry)
		},
	}
	cmd.Flags().StringVar(&want.Group, "group", "", "The resource's API group; empty for the core group")
	cmd.Flags().StringVar(&mode, "mode", "", "One of: "+strings.Join(modes, ", "))
	cmd.Flags().BoolVarP(&force, "force", "f", false, "Propagate a kind that has been ignored, though that may overwrite objects")
	cmd.Flags().BoolVar(&grant, "grant", false, "Give hnc-propagator the rights on the kind that it lacks, by a ClusterRole")
	e.completeFlag(cmd, "mode", func(*cobra.Command, string) []string { return modes })
	dry.addFlag(cmd.Flags())
	return cmd
}

// titled spells a mode as the API does, whatever its case.
func titled(mode string) string {
	for _, known := range modes {
		if strings.EqualFold(mode, known) {
			return known
		}
	}
	return mode
}

// setResource changes a kind's entry, or adds one.
func setResource(spec *v1beta1.HNCConfigurationSpec, want v1beta1.ResourceSpec, force bool) error {
	i := slices.IndexFunc(spec.Resources, func(r v1beta1.ResourceSpec) bool { return r.Group == want.Group && r.Resource == want.Resource })
	if i < 0 {
		spec.Resources = append(spec.Resources, want)
		return nil
	}
	propagates := want.Mode == v1beta1.Propagate || want.Mode == v1beta1.AllowPropagate
	if spec.Resources[i].Mode == v1beta1.Ignore && propagates && !force {
		return fmt.Errorf("%s have been ignored: objects of this kind in descendants may be overwritten by those of their ancestors when they are propagated.\n"+
			"Set the mode to Remove first, look at what is left, and then to %s; or give --force", want.Resource, want.Mode)
	}
	spec.Resources[i].Mode = want.Mode
	return nil
}

func newDeleteType(e *Environment) *cobra.Command {
	var (
		group, resource string
		dry             dryRun
	)
	cmd := &cobra.Command{
		Use:     "delete-type",
		Short:   "Have a kind no longer propagated; its copies stay",
		Example: "  kubectl hns config delete-type --group networking.k8s.io --resource networkpolicies",
		Args:    exactly(0, "none: the kind is named by --group and --resource"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if resource == "" {
				return usage("name the kind by --resource, and by --group if it is not in the core group")
			}
			return e.changeConfiguration(cmd.Context(), &dry, func(c *v1beta1.HNCConfiguration) (string, bool, error) {
				before := len(c.Spec.Resources)
				c.Spec.Resources = slices.DeleteFunc(c.Spec.Resources, func(r v1beta1.ResourceSpec) bool {
					return r.Group == group && r.Resource == resource
				})
				if len(c.Spec.Resources) == before {
					return fmt.Sprintf("Nothing to delete; No configuration for type with group: %s, resource: %s\n", group, resource), false, nil
				}
				return fmt.Sprintf("Configuration for type with group: %s, resource: %s is deleted%s\n", group, resource, dry.suffix()), true, nil
			})
		},
	}
	cmd.Flags().StringVar(&group, "group", "", "The resource's API group; empty for the core group")
	cmd.Flags().StringVar(&resource, "resource", "", "The resource's plural name")
	dry.addFlag(cmd.Flags())
	return cmd
}

// changeConfiguration changes the configuration, or makes it. What change returns is printed afterwards.
func (e *Environment) changeConfiguration(ctx context.Context, dry *dryRun, change func(*v1beta1.HNCConfiguration) (string, bool, error)) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	var said string
	err = unlessModified(func() error {
		config, err := getConfiguration(ctx, c)
		if err != nil {
			return err
		}
		var changed bool
		if said, changed, err = change(config); err != nil || !changed || dry.client() {
			return err
		}
		return writeConfiguration(ctx, c, config, dry)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.Out, said)
	return err
}

// writeConfiguration writes the configuration as it was read, or a new one.
func writeConfiguration(ctx context.Context, c *cluster, config *v1beta1.HNCConfiguration, dry *dryRun) error {
	client := c.hierarchy.HncV1beta1().HNCConfigurations()
	var err error
	if config.ResourceVersion == "" {
		_, err = client.Create(ctx, config, metav1.CreateOptions{DryRun: dry.options()})
	} else {
		_, err = client.Update(ctx, config, metav1.UpdateOptions{DryRun: dry.options()})
	}
	if err != nil {
		return &failure{"Could not update the HNC Configuration:", err}
	}
	return nil
}

// getConfiguration returns the configuration; an absent one is empty.
func getConfiguration(ctx context.Context, c *cluster) (*v1beta1.HNCConfiguration, error) {
	config, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !isUnserved(err) {
		return &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, nil
	}
	return config, err
}

func newDescribeConfig(e *Environment) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Show which kinds are propagated, and what is wrong with that",
		Args:  exactly(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			c, err := e.connect()
			if err != nil {
				return err
			}
			config, err := getConfiguration(cmd.Context(), c)
			if err != nil {
				return err
			}
			config.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("HNCConfiguration"))
			if printed, err := out.print(e, config, func() []string { return []string{"hncconfiguration." + hnc.GroupName + "/" + config.Name} }); printed {
				return err
			}
			_, err = fmt.Fprint(e.Out, describeConfiguration(&config.Status))
			return err
		},
	}
	out.addFlag(e, cmd)
	return cmd
}

// describeConfiguration returns what spec/hnc.md 4 shows of the configuration.
func describeConfiguration(status *v1beta1.HNCConfigurationStatus) string {
	verbs := map[v1beta1.SynchronizationMode]string{
		v1beta1.Propagate: "Propagating", v1beta1.Remove: "Removing", v1beta1.AllowPropagate: "AllowPropagate", v1beta1.Ignore: "Ignoring",
	}
	var s strings.Builder
	s.WriteString("Synchronized resources:\n")
	for _, r := range status.Resources {
		fmt.Fprintf(&s, "* %s: %s (%s/%s)\n", verbs[r.Mode], r.Resource, r.Group, r.Version)
	}
	s.WriteString("\nConditions:\n")
	for _, condition := range tree.Problems(status.Conditions) {
		fmt.Fprintln(&s, tree.Say(condition))
	}
	return s.String()
}
