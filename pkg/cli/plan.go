package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/preview"
)

type planOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	namespace      string
	parent         string
	root, deletion bool
	abstract       []string
	modes          []string
	cluster        bool
	rules          string
	diff           bool
	output         OutputFlag
	flags          *pflag.FlagSet
	requested      []v1alpha3.HierarchyPlanSpec
}

func newPlanCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &planOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "plan NAMESPACE",
		Short: "Show what a change would do, without changing anything",
		Long: `Show what a change would do, without changing anything: objects that would be added (+), changed (~), overwritten (!), removed (-) or kept
although an ancestor has one of the same name (=), roles that subjects would gain and lose, and namespaces that would be deleted. The exit code is 2
if the change would be refused.`,
		Example: `  kubectl hns plan team-a --parent globex
  kubectl hns plan team-a --root
  kubectl hns plan team-a --delete
  kubectl hns plan team-a --abstract eng,platform
  kubectl hns plan team-a --mode secrets=Propagate --diff
  kubectl hns plan acme --mode networkpolicies.networking.k8s.io=Propagate --cluster
  kubectl hns plan acme --rules '{"skippedObjects": [{"matchLabels": {"team": "none"}}]}'`,
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: CompleteArgs(1, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.parent, "parent", "p", "", "Give the namespace this parent")
	flags.BoolVarP(&o.root, "root", "r", false, "Make the namespace the root of its own tree")
	flags.BoolVar(&o.deletion, "delete", false, "Delete the namespace")
	flags.StringSliceVar(&o.abstract, "abstract", nil, "Give the namespace these abstract ancestors, the nearest first; none if empty")
	flags.StringArrayVar(&o.modes, "mode", nil, "RESOURCE[.GROUP]=MODE: propagate a kind in this mode from the namespace and from all below it. Can be given several times")
	flags.BoolVar(&o.cluster, "cluster", false, "With --mode: in the whole cluster; the plan shows the namespace and all below it")
	flags.StringVar(&o.rules, "rules", "", "YAML or JSON: the new spec.rules of the cluster's configuration; the plan shows the namespace and all below it")
	flags.BoolVar(&o.diff, "diff", false, "Show the differences in objects that are changed or overwritten")
	CompleteFlag(cmd, "parent", f.CompleteNamespaces)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *planOptions) Complete(cmd *cobra.Command, args []string) error {
	o.namespace, o.flags = args[0], cmd.Flags()
	if cmd.Flags().Changed("parent") {
		o.requested = append(o.requested, v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: o.parent})
	}
	if o.root {
		o.requested = append(o.requested, v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent})
	}
	if o.deletion {
		o.requested = append(o.requested, v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeDelete})
	}
	if cmd.Flags().Changed("abstract") {
		o.requested = append(o.requested, v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeAbstractAncestors, AbstractAncestors: o.abstract})
	}
	if len(o.modes) > 0 {
		spec := v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangePropagation}
		if o.cluster {
			spec.Change = v1alpha3.ChangeConfiguration
		}
		o.requested = append(o.requested, spec)
	}
	if cmd.Flags().Changed("rules") {
		o.requested = append(o.requested, v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeRules, Rules: &v1beta1.Rules{}})
	}
	return nil
}

func (o *planOptions) Validate() error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	if err := validateParent(o.flags); err != nil {
		return err
	}
	switch {
	case len(o.requested) == 0:
		return UsageErrorf("say what to change: --parent, --root, --delete, --abstract, --mode or --rules")
	case len(o.requested) > 1:
		return UsageErrorf("--parent, --root, --delete, --abstract, --mode and --rules contradict each other; give one of them")
	case o.cluster && len(o.modes) == 0:
		return UsageErrorf("--cluster requires --mode")
	}
	if rules := o.requested[0].Rules; rules != nil {
		if err := yaml.UnmarshalStrict([]byte(o.rules), rules); err != nil {
			return UsageErrorf("--rules: %v", err)
		}
	}
	_, err := parseModes(o.modes)
	return err
}

func (o *planOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	spec := o.requested[0]
	if len(o.modes) > 0 {
		if spec.Resources, err = o.resources(ctx, c); err != nil {
			return err
		}
	}
	plan, err := readPlan(ctx, c, o.namespace, spec)
	if err != nil {
		return err
	}
	printed, err := o.output.Print(o.Out, plan, func() []string {
		names := make([]string, 0, len(plan.Status.Namespaces))
		for _, n := range plan.Status.Namespaces {
			names = append(names, "namespace/"+n.Name)
		}
		return names
	})
	if !printed {
		_, err = fmt.Fprint(o.Out, preview.Text(o.namespace, plan, o.diff))
	}
	if err == nil && len(plan.Status.Refusals) > 0 {
		return exitError{exitFound}
	}
	return err
}

// resources returns the current entries, with the modes of --mode.
func (o *planOptions) resources(ctx context.Context, c *Clients) ([]v1beta1.ResourceSpec, error) {
	entries, err := parseModes(o.modes)
	if err != nil {
		return nil, err
	}
	resources, err := o.currentResources(ctx, c)
	if err != nil {
		return nil, err
	}
	return o.factory.withModes(resources, entries)
}

// parseModes parses RESOURCE[.GROUP]=MODE.
func parseModes(texts []string) ([]v1beta1.ResourceSpec, error) {
	entries := make([]v1beta1.ResourceSpec, 0, len(texts))
	for _, text := range texts {
		resource, mode, ok := strings.Cut(text, "=")
		mode = canonicalMode(mode)
		if !ok || resource == "" || !slices.Contains(modeNames, mode) {
			return nil, UsageErrorf("--mode=%s is not RESOURCE[.GROUP]=MODE with a mode of %s", text, strings.Join(modeNames, ", "))
		}
		entry := kindArg(resource)
		entry.Mode = v1beta1.SynchronizationMode(mode)
		entries = append(entries, entry)
	}
	return entries, nil
}

// currentResources returns the current entries of the namespace's hierarchy, or with --cluster of the cluster's
// configuration.
func (o *planOptions) currentResources(ctx context.Context, c *Clients) ([]v1beta1.ResourceSpec, error) {
	if o.cluster {
		configuration, err := c.Hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return configuration.Spec.Resources, nil
	}
	hierarchy, err := getHierarchy(ctx, c, o.namespace)
	if err != nil {
		return nil, err
	}
	return hierarchy.Spec.Propagation, nil
}

// readPlan reads all pages of a plan.
func readPlan(ctx context.Context, c *Clients, namespace string, spec v1alpha3.HierarchyPlanSpec) (*v1alpha3.HierarchyPlan, error) {
	var all *v1alpha3.HierarchyPlan
	for {
		page, err := c.Hierarchy.HncV1beta1().Hierarchies(namespace).Plan(ctx, hnc.Singleton, &v1alpha3.HierarchyPlan{Spec: spec}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = page
		} else {
			preview.Append(all, page)
		}
		if page.Status.Continue == "" {
			all.Status.Continue, all.Spec.Continue, all.ManagedFields = "", "", nil
			return all, nil
		}
		spec.Continue = page.Status.Continue
	}
}
