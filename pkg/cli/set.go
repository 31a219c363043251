package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// change is what is to be changed in a hierarchy; nil leaves a property as it is.
type change struct {
	parent  *string
	cascade *bool
}

func newSet(e *Environment) *cobra.Command {
	var (
		parent string
		dry    dryRun
		wait   waiting
	)
	cmd := &cobra.Command{
		Use:   "set NAMESPACE",
		Short: "Change a namespace's parent, or whether deletion cascades",
		Example: `  kubectl hns set team-a --parent acme
  kubectl hns set team-a --root
  kubectl hns set team-a --allowCascadingDeletion`,
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: completeArgs(1, e.completeNamespaces),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags := cmd.Flags()
			for _, pair := range [][2]string{{"root", "parent"}, {"allowCascadingDeletion", "forbidCascadingDeletion"}} {
				if err := contradict(flags, pair[0], pair[1]); err != nil {
					return err
				}
			}
			if err := wait.check(&dry); err != nil {
				return err
			}
			var want change
			switch {
			// As in HNC's client, that the flag is given is what counts: --root=false means --root.
			case flags.Changed("root"):
				want.parent = ptr.To("")
			case flags.Changed("parent"):
				if parent != "" {
					if err := checkNamespace(parent); err != nil {
						return err
					}
				}
				want.parent = &parent
			}
			if flags.Changed("allowCascadingDeletion") || flags.Changed("forbidCascadingDeletion") {
				want.cascade = ptr.To(flags.Changed("allowCascadingDeletion"))
			}
			return e.set(cmd.Context(), args[0], want, &dry, &wait)
		},
	}
	cmd.Flags().BoolP("root", "r", false, "Make the namespace a root")
	cmd.Flags().StringVarP(&parent, "parent", "p", "", "Give the namespace this parent")
	cmd.Flags().BoolP("allowCascadingDeletion", "a", false, "Allow that the sub-namespaces below are deleted with the namespace")
	cmd.Flags().BoolP("forbidCascadingDeletion", "f", false, "Forbid that")
	e.completeFlag(cmd, "parent", e.completeNamespaces)
	dry.addFlag(cmd.Flags())
	wait.addFlags(cmd.Flags(), "until the tree labels of the namespace and of all below it are right")
	return cmd
}

func (e *Environment) set(ctx context.Context, namespace string, want change, dry *dryRun, wait *waiting) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	before, err := c.namespaces.Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	h, err := getHierarchy(ctx, c, namespace)
	if err != nil {
		return err
	}
	said, changes := apply(h, want)
	for _, line := range said {
		if _, err := fmt.Fprintln(e.Out, line); err != nil {
			return err
		}
	}
	if changes == 0 {
		_, err := fmt.Fprintln(e.Out, "No changes made")
		return err
	}
	if err := writeHierarchy(ctx, c, h, want, dry); err != nil {
		return &failure{fmt.Sprintf("Could not update the hierarchical configuration of %s.", namespace), err}
	}
	properties := "1 property"
	if changes > 1 {
		properties = fmt.Sprintf("%d properties", changes)
	}
	// The spelling is HNC's, which users parse.
	_, err = fmt.Fprintf(e.Out, "Succesfully updated %s of the hierarchical configuration of %s%s\n", //nolint:misspell // As said above.
		properties, namespace, dry.suffix())
	if err != nil || !wait.on || want.parent == nil {
		return err
	}
	return e.waitForLabels(ctx, c, wait, before, h.Spec.Parent)
}

// apply changes a hierarchy, and returns what is said about each property, in HNC's words, and how many change.
func apply(h *v1beta1.Hierarchy, want change) (said []string, changes int) {
	name, old := h.Namespace, h.Spec.Parent
	if want.parent != nil {
		parent := *want.parent
		switch {
		case parent == "" && old == "":
			// HNC's client has the trailing space.
			said = append(said, fmt.Sprintf("%s is already a root namespace; unchanged ", name))
		case parent == old:
			said = append(said, fmt.Sprintf("Parent of %s is already %s; unchanged", name, parent))
		case parent == "":
			said = append(said, fmt.Sprintf("Unsetting the parent of %s (was previously %s)", name, old))
		case old == "":
			said = append(said, fmt.Sprintf("Setting the parent of %s to %s", name, parent))
		default:
			said = append(said, fmt.Sprintf("Changing the parent of %s from %s to %s", name, old, parent))
		}
		if parent != old {
			h.Spec.Parent = parent
			changes++
		}
	}
	if want.cascade != nil {
		allow := *want.cascade
		switch {
		case allow == ptr.Deref(h.Spec.AllowCascadingDeletion, false):
			said = append(said, fmt.Sprintf("Cascading deletion for '%s' is already set to %t; unchanged", name, allow))
			return said, changes
		case allow:
			said = append(said, fmt.Sprintf("Allowing cascading deletion on '%s'", name))
		default:
			said = append(said, fmt.Sprintf("Forbidding cascading deletion on '%s'", name))
		}
		h.Spec.AllowCascadingDeletion = &allow
		changes++
	}
	return said, changes
}
