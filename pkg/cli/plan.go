package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/preview"
)

// planned is what the flags of plan say.
type planned struct {
	parent           string
	root, del        bool
	modes            []string
	cluster, differs bool
}

func newPlan(e *Environment) *cobra.Command {
	var (
		p   planned
		out output
	)
	cmd := &cobra.Command{
		Use:   "plan NAMESPACE",
		Short: "Show what a change would do, and change nothing",
		Long: `Show what a change would do, and change nothing: objects that would be added (+), changed (~), overwritten (!), removed (-) or kept although an
ancestor has one of the same name (=), who would gain and lose which role, and which namespaces would be deleted. A change that would be refused
ends with exit code 1.`,
		Example: `  kubectl hns plan team-a --parent globex
  kubectl hns plan team-a --root
  kubectl hns plan team-a --delete
  kubectl hns plan team-a --mode secrets=Propagate --diff
  kubectl hns plan acme --mode networkpolicies.networking.k8s.io=Propagate --cluster`,
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: completeArgs(1, e.completeNamespaces),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if p.parent != "" {
				if err := checkNamespace(p.parent); err != nil {
					return err
				}
			}
			return e.plan(cmd.Context(), args[0], cmd.Flags().Changed("parent"), &p, &out)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&p.parent, "parent", "p", "", "Give the namespace this parent")
	flags.BoolVarP(&p.root, "root", "r", false, "Make the namespace the root of a tree of its own")
	flags.BoolVar(&p.del, "delete", false, "Delete the namespace")
	flags.StringArrayVar(&p.modes, "mode", nil, "RESOURCE[.GROUP]=MODE: propagate a kind that way from the namespace and from all below it. Can be given several times")
	flags.BoolVar(&p.cluster, "cluster", false, "With --mode: in the whole cluster, and show it for the namespace and all below it")
	flags.BoolVar(&p.differs, "diff", false, "Show what would differ in objects that are changed or overwritten")
	e.completeFlag(cmd, "parent", e.completeNamespaces)
	out.addFlag(e, cmd)
	return cmd
}

// spec returns the change that the flags ask for; what is set already is asked for with get.
func (p *planned) spec(parentGiven bool, current func() ([]v1beta1.ResourceSpec, error)) (v1beta1.HierarchyPlanSpec, error) {
	var wanted []v1beta1.HierarchyPlanSpec
	if parentGiven {
		wanted = append(wanted, v1beta1.HierarchyPlanSpec{Change: v1beta1.ChangeParent, Parent: p.parent})
	}
	if p.root {
		wanted = append(wanted, v1beta1.HierarchyPlanSpec{Change: v1beta1.ChangeParent})
	}
	if p.del {
		wanted = append(wanted, v1beta1.HierarchyPlanSpec{Change: v1beta1.ChangeDelete})
	}
	if len(p.modes) > 0 {
		spec := v1beta1.HierarchyPlanSpec{Change: v1beta1.ChangePropagation}
		if p.cluster {
			spec.Change = v1beta1.ChangeConfiguration
		}
		wanted = append(wanted, spec)
	}
	switch {
	case len(wanted) == 0:
		return v1beta1.HierarchyPlanSpec{}, usage("say what is to be changed: --parent, --root, --delete or --mode")
	case len(wanted) > 1:
		return v1beta1.HierarchyPlanSpec{}, usage("--parent, --root, --delete and --mode contradict each other; give one of them")
	case p.cluster && len(p.modes) == 0:
		return v1beta1.HierarchyPlanSpec{}, usage("--cluster says where --mode holds; give that as well")
	case len(p.modes) == 0:
		return wanted[0], nil
	}
	entries, err := parseModes(p.modes)
	if err != nil {
		return v1beta1.HierarchyPlanSpec{}, err
	}
	resources, err := current()
	if err != nil {
		return v1beta1.HierarchyPlanSpec{}, err
	}
	for _, entry := range entries {
		i := slices.IndexFunc(resources, func(r v1beta1.ResourceSpec) bool { return r.Group == entry.Group && r.Resource == entry.Resource })
		if i < 0 {
			resources = append(resources, entry)
		} else {
			resources[i].Mode = entry.Mode
		}
	}
	wanted[0].Resources = resources
	return wanted[0], nil
}

// parseModes reads RESOURCE[.GROUP]=MODE.
func parseModes(texts []string) ([]v1beta1.ResourceSpec, error) {
	entries := make([]v1beta1.ResourceSpec, 0, len(texts))
	for _, text := range texts {
		resource, mode, ok := strings.Cut(text, "=")
		mode = titled(mode)
		if !ok || resource == "" || !slices.Contains(modes, mode) {
			return nil, usage("--mode=%s is not RESOURCE[.GROUP]=MODE with a mode of %s", text, strings.Join(modes, ", "))
		}
		named := schema.ParseGroupResource(resource)
		entries = append(entries, v1beta1.ResourceSpec{Group: named.Group, Resource: named.Resource, Mode: v1beta1.SynchronizationMode(mode)})
	}
	return entries, nil
}

func (e *Environment) plan(ctx context.Context, namespace string, parentGiven bool, p *planned, out *output) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	spec, err := p.spec(parentGiven, func() ([]v1beta1.ResourceSpec, error) { return currentResources(ctx, c, namespace, p.cluster) })
	if err != nil {
		return err
	}
	plan, err := allOfPlan(ctx, c, namespace, spec)
	if err != nil {
		return err
	}
	printed, err := out.print(e, plan, func() []string {
		names := make([]string, 0, len(plan.Status.Namespaces))
		for _, n := range plan.Status.Namespaces {
			names = append(names, "namespace/"+n.Name)
		}
		return names
	})
	if !printed {
		_, err = fmt.Fprint(e.Out, preview.Text(namespace, plan, p.differs))
	}
	if err == nil && len(plan.Status.Refusals) > 0 {
		return errSilent
	}
	return err
}

// currentResources returns what the hierarchy of the namespace, or the cluster's configuration, says about kinds now.
func currentResources(ctx context.Context, c *cluster, namespace string, ofCluster bool) ([]v1beta1.ResourceSpec, error) {
	if ofCluster {
		configuration, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return configuration.Spec.Resources, nil
	}
	hierarchy, err := c.hierarchy.HncV1beta1().Hierarchies(namespace).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !isUnserved(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return hierarchy.Spec.Propagation, nil
}

// allOfPlan asks until everything is told.
func allOfPlan(ctx context.Context, c *cluster, namespace string, spec v1beta1.HierarchyPlanSpec) (*v1beta1.HierarchyPlan, error) {
	var all *v1beta1.HierarchyPlan
	for {
		page, err := c.hierarchy.HncV1beta1().Hierarchies(namespace).Plan(ctx, hnc.Singleton, &v1beta1.HierarchyPlan{Spec: spec}, metav1.CreateOptions{})
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
