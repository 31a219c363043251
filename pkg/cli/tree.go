package cli

import (
	"context"
	"math"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/graph"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
)

type treeOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	roots []string
	all   bool
	// objects is the resource whose objects are shown as well.
	objects string
	output  OutputFlag
}

func newTreeCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &treeOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "tree NAMESPACE...",
		Short: "Show the trees below namespaces, as text or as a graph",
		Example: `  kubectl hns tree acme
  kubectl hns tree -A
  kubectl hns tree acme -o dot --objects networkpolicies | dot -Tsvg > acme.svg`,
		Args:              namespaceArgs(0, math.MaxInt),
		ValidArgsFunction: CompleteArgs(math.MaxInt, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "Show the trees of all namespaces")
	cmd.Flags().StringVar(&o.objects, "objects", "", "Also show the objects of this kind, such as rolebindings, and the sources of copies")
	CompleteFlag(cmd, "objects", f.CompleteResources)
	o.output.AddFlag(cmd, graph.Formats...)
	return cmd
}

func (o *treeOptions) Complete(_ *cobra.Command, args []string) error {
	o.roots = args
	return nil
}

func (o *treeOptions) Validate() error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	switch {
	case o.all && len(o.roots) > 0:
		return UsageErrorf("--all-namespaces and names of namespaces contradict each other; give one of them")
	case !o.all && len(o.roots) == 0:
		return UsageErrorf("name a namespace, or give --all-namespaces")
	}
	return nil
}

func (o *treeOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	t, err := o.load(ctx, c)
	if err != nil {
		return err
	}
	if printed, err := o.output.Print(o.Out, t.List(o.roots), func() []string { return namesIn(t, o.roots) }); printed {
		return err
	}
	if o.output.Format != "" {
		return graph.Write(o.Out, t, o.roots, o.output.Format)
	}
	return t.Write(o.Out, o.roots, paintFor(o.Out))
}

// load reads the trees below the roots, or all trees, whose roots it sets.
func (o *treeOptions) load(ctx context.Context, c *Clients) (t *tree.Tree, err error) {
	if o.all {
		if t, err = loadAllTrees(ctx, c, o.ErrOut); err == nil {
			o.roots = t.Roots()
		}
	} else {
		t, err = loadTrees(ctx, c, o.roots)
	}
	if err != nil || o.objects == "" {
		return t, err
	}
	mapping, err := o.factory.Mapping(o.objects)
	if err != nil {
		return nil, err
	}
	return t, o.addObjects(ctx, c, t, mapping.Resource)
}

func namesIn(t *tree.Tree, roots []string) []string {
	var names []string
	for _, node := range t.List(roots).Items {
		names = append(names, "namespace/"+node.Name)
	}
	return names
}

// fewNamespaces is the number of namespaces up to which these are listed one by one, and not the whole cluster.
const fewNamespaces = 50

// addObjects adds the objects of a kind to the namespaces below the roots: with a request for each namespace if these are
// few, or if the requester may not list the objects of the whole cluster, otherwise with one.
func (o *treeOptions) addObjects(ctx context.Context, c *Clients, t *tree.Tree, resource schema.GroupVersionResource) error {
	list := func(ctx context.Context, namespace string) ([]metav1.PartialObjectMetadata, error) {
		found, err := c.metadata.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return found.Items, nil
	}
	add := func(objects []metav1.PartialObjectMetadata) {
		for i := range objects {
			object := &objects[i]
			t.AddObject(object.Namespace, object.Name, object.Labels[hnc.LabelInheritedFrom])
		}
	}
	nodes := t.List(o.roots).Items
	if o.all || len(nodes) > fewNamespaces {
		all, err := list(ctx, metav1.NamespaceAll)
		if !apierrors.IsForbidden(err) {
			add(all)
			return err
		}
	}
	lists, forbidden := make([][]metav1.PartialObjectMetadata, len(nodes)), make([]error, len(nodes))
	err := inParallel(ctx, len(nodes), func(ctx context.Context, i int) (err error) {
		if lists[i], err = list(ctx, nodes[i].Name); apierrors.IsForbidden(err) {
			forbidden[i], err = err, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range nodes {
		if forbidden[i] != nil {
			Warnf(o.ErrOut, "objects in namespace %s are left out: missing permission: %s", nodes[i].Name, missingPermission(forbidden[i]))
		}
		add(lists[i])
	}
	return nil
}
