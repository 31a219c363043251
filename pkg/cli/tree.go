package cli

import (
	"context"
	"math"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/picture"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
)

func newTree(e *Environment) *cobra.Command {
	var (
		all     bool
		objects string
		out     output
	)
	cmd := &cobra.Command{
		Use:   "tree NAMESPACE...",
		Short: "Show the trees below namespaces, as text or as a picture",
		Example: `  kubectl hns tree acme
  kubectl hns tree -A
  kubectl hns tree acme -o svg --objects networkpolicies > acme.svg`,
		Args:              namespaceArgs(0, math.MaxInt),
		ValidArgsFunction: completeArgs(math.MaxInt, e.completeNamespaces),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			switch {
			case all && len(args) > 0:
				return usage("--all-namespaces and names of namespaces contradict each other; give one of them")
			case !all && len(args) == 0:
				return usage("name a namespace, or give --all-namespaces")
			case out.format == "png" && isTerminal(e.Out):
				return usage("a picture can't be shown on a terminal; send it to a file: ... -o png > tree.png")
			}
			return e.showTree(cmd.Context(), args, objects, &out)
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "Show the trees of all namespaces")
	cmd.Flags().StringVar(&objects, "objects", "", "Also show where objects of this kind are, such as rolebindings, and where copies come from")
	e.completeFlag(cmd, "objects", e.completeResources)
	out.addFlag(e, cmd, picture.Formats...)
	return cmd
}

// showTree shows the trees below the roots; without roots, all.
func (e *Environment) showTree(ctx context.Context, roots []string, kind string, out *output) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	var t *tree.Tree
	if len(roots) > 0 {
		t, err = e.loadTree(ctx, c, roots)
	} else if t, err = e.loadAll(ctx, c); err == nil {
		roots = t.Roots()
	}
	if err != nil {
		return err
	}
	if kind != "" {
		if err := e.loadObjects(ctx, c, t, roots, kind); err != nil {
			return err
		}
	}
	if printed, err := out.print(e, t.List(roots), func() []string { return names(t, roots) }); printed {
		return err
	}
	if out.format != "" {
		return picture.Write(ctx, e.Out, t, roots, out.format)
	}
	return t.Write(e.Out, roots, e.paint(e.Out))
}

func names(t *tree.Tree, roots []string) []string {
	var names []string
	for _, node := range t.List(roots).Items {
		names = append(names, "namespace/"+node.Name)
	}
	return names
}

// loadObjects adds the objects of a kind to the namespaces below the roots: by one request of who may list them in the whole cluster, by one
// for each namespace of anybody else.
func (e *Environment) loadObjects(ctx context.Context, c *cluster, t *tree.Tree, roots []string, kind string) error {
	resource, err := e.resource(kind)
	if err != nil {
		return err
	}
	err = addObjects(ctx, c, t, resource, metav1.NamespaceAll)
	if !apierrors.IsForbidden(err) {
		return err
	}
	for _, node := range t.List(roots).Items {
		err := addObjects(ctx, c, t, resource, node.Name)
		switch {
		case apierrors.IsForbidden(err):
			e.warn("objects in namespace %s are left out: missing right: %s", node.Name, missingRight(err))
		case err != nil:
			return err
		}
	}
	return nil
}

func addObjects(ctx context.Context, c *cluster, t *tree.Tree, resource schema.GroupVersionResource, namespace string) error {
	list, err := c.metadata.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		o := &list.Items[i]
		t.AddObject(o.Namespace, o.Name, o.Labels[hnc.LabelInheritedFrom])
	}
	return nil
}
