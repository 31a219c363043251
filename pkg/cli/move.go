package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func newMove(e *Environment) *cobra.Command {
	var (
		dry  dryRun
		wait waiting
		root bool
	)
	cmd := &cobra.Command{
		Use:   "move NAMESPACE NEW-PARENT",
		Short: "Move a namespace, with everything below it, to another parent",
		Long: `Move a namespace, with everything below it, to another parent.

That is one write: of the parent in the hierarchy of the namespace. What it takes is said in the server's documentation: mostly, to be admin of the
namespace, of where it leaves and of where it goes. A sub-namespace can't be moved.`,
		Example: `  kubectl hns move team-a globex --wait
  kubectl hns move team-a --root`,
		Args:              namespaceArgs(1, 2),
		ValidArgsFunction: completeArgs(2, e.completeNamespaces),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wait.check(&dry); err != nil {
				return err
			}
			switch {
			case root && len(args) == 2:
				return usage("--root and a new parent contradict each other; give one of them")
			case root:
				return e.move(cmd.Context(), args[0], "", &dry, &wait)
			case len(args) < 2:
				return usage("name the new parent, or give --root")
			}
			return e.move(cmd.Context(), args[0], args[1], &dry, &wait)
		},
	}
	cmd.Flags().BoolVarP(&root, "root", "r", false, "Make the namespace the root of a tree of its own")
	dry.addFlag(cmd.Flags())
	wait.addFlags(cmd.Flags(), "until the tree labels of the namespace and of all below it are right")
	return cmd
}

func (e *Environment) move(ctx context.Context, namespace, parent string, dry *dryRun, wait *waiting) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	before, err := c.namespaces.Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !dry.client() {
		if err := patchParent(ctx, c, namespace, parent, dry); err != nil {
			return &failure{fmt.Sprintf("Could not move %s.", namespace), err}
		}
	}
	to := "below " + parent
	if parent == "" {
		to = "to a tree of its own"
	}
	if _, err := fmt.Fprintf(e.Out, "Moved %s %s%s\n", namespace, to, dry.suffix()); err != nil || !wait.on {
		return err
	}
	return e.waitForLabels(ctx, c, wait, before, parent)
}

// patchParent changes the parent only, whatever else is being changed. A namespace that has been in no tree has no hierarchy yet.
func patchParent(ctx context.Context, c *cluster, namespace, parent string, dry *dryRun) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"parent": parent}})
	if err != nil {
		return err
	}
	client := c.hierarchy.HncV1beta1().Hierarchies(namespace)
	_, err = client.Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dry.options()})
	if !apierrors.IsNotFound(err) || isUnserved(err) {
		return err
	}
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: namespace}, Spec: v1beta1.HierarchySpec{Parent: parent}}
	_, err = client.Create(ctx, h, metav1.CreateOptions{DryRun: dry.options()})
	return err
}
