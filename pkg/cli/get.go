package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// subtreeVersion is the API that lists across a subtree.
var subtreeVersion = hnc.ResourcesGroupVersion

type getOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	resource string
	// namespace is the root of the subtree, "" for all namespaces.
	namespace         string
	all, namespaceSet bool
	watch             bool
	selector          string
	output            OutputFlag
}

func newGetCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &getOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "get RESOURCE",
		Short: "List objects of a kind in a namespace and everything below it",
		Example: `  kubectl hns get pods -n team-a
  kubectl hns get deployments.apps -n team-a --watch`,
		Args:              ExactArgs(1, "one resource"),
		ValidArgsFunction: CompleteArgs(1, f.CompleteResources),
		RunE:              RunOptions(o),
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "List the objects of all namespaces")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "After listing, watch for changes")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "List only objects whose labels match this selector")
	o.output.AddFlag(cmd)
	return cmd
}

func (o *getOptions) Complete(cmd *cobra.Command, args []string) (err error) {
	o.resource = args[0]
	o.namespaceSet = cmd.Flags().Changed("namespace")
	if !o.all {
		o.namespace, err = o.factory.namespace()
	}
	return err
}

func (o *getOptions) Validate() error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	switch {
	case o.watch && o.output.Format != "" && o.output.Format != "name":
		return UsageErrorf("--watch and --output=%s contradict each other; give one of them", o.output.Format)
	case o.all && o.namespaceSet:
		return UsageErrorf("--all-namespaces and --namespace contradict each other; give one of them")
	}
	return nil
}

func (o *getOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	mapping, err := o.factory.Mapping(o.resource)
	if err != nil {
		return err
	}
	resource := mapping.Resource.GroupResource()
	client := c.Dynamic.Resource(subtreeVersion.WithResource(hnc.ResourcesName(resource))).Namespace(o.namespace)
	options := metav1.ListOptions{LabelSelector: o.selector}
	list, err := ListPages(ctx, client, options)
	if err != nil {
		return o.listError(err)
	}
	show, err := o.printList(list, mapping.GroupVersionKind.GroupKind())
	if err != nil || !o.watch {
		return err
	}
	options.ResourceVersion = list.GetResourceVersion()
	return watchAndPrint(ctx, client, options, show)
}

// pageSize is the number of objects that are requested at a time, as kubectl does.
const pageSize = 500

// ListPages lists all objects, because the server rejects lists that are too large.
func ListPages(ctx context.Context, client dynamic.ResourceInterface, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	options.Limit = pageSize
	all, err := client.List(ctx, options)
	if err != nil {
		return nil, err
	}
	for options.Continue = all.GetContinue(); options.Continue != ""; {
		next, err := client.List(ctx, options)
		if err != nil {
			return nil, err
		}
		all.Items = append(all.Items, next.Items...)
		options.Continue = next.GetContinue()
	}
	all.SetContinue("")
	return all, nil
}

// itemPrinter prints objects that a watch returns.
type itemPrinter func(items ...unstructured.Unstructured) error

// printList prints the list, and returns the printer for what follows.
func (o *getOptions) printList(list *unstructured.UnstructuredList, kind schema.GroupKind) (itemPrinter, error) {
	namesOf := func(items ...unstructured.Unstructured) []string {
		var all []string
		for i := range items {
			all = append(all, items[i].GetNamespace()+"/"+names.Object(kind, items[i].GetName()))
		}
		return all
	}
	printed, err := o.output.Print(o.Out, list, func() []string { return namesOf(list.Items...) })
	if printed {
		return func(items ...unstructured.Unstructured) error {
			_, err := fmt.Fprint(Exact(o.Out), lines(namesOf(items...)))
			return err
		}, err
	}
	if len(list.Items) == 0 && !o.watch {
		where := "."
		if o.namespace != "" {
			where = fmt.Sprintf(" in %s namespace and below.", o.namespace)
		}
		_, err := fmt.Fprintf(o.ErrOut, "No resources found%s\n", where)
		return nil, err
	}
	show := rowPrinter(o.Out)
	return show, show(list.Items...)
}

// listError explains that the cluster does not serve the API, if that is what the error means.
func (o *getOptions) listError(err error) error {
	service := subtreeVersion.Version + "." + subtreeVersion.Group
	if apierrors.IsServiceUnavailable(err) || apierrors.IsNotFound(err) && !o.factory.serves(subtreeVersion) {
		return fmt.Errorf("this cluster does not serve %s, which lists across a subtree: does APIService %s exist, and is it available?\n"+
			"Look with: kubectl get apiservice %s", subtreeVersion, service, service)
	}
	return err
}

// rowPrinter prints objects as the rows of one table, after its header. The table writer remembers the widths of the
// columns.
func rowPrinter(w io.Writer) itemPrinter {
	table := printers.GetNewTabWriter(w)
	_, _ = fmt.Fprintln(table, "NAMESPACE\tNAME\tAGE")
	return func(items ...unstructured.Unstructured) error {
		for i := range items {
			_, _ = io.WriteString(table, names.Row(items[i].GetNamespace(), items[i].GetName(), metatable.ConvertToHumanReadableDateType(items[i].GetCreationTimestamp())))
		}
		return table.Flush()
	}
}

// watchAndPrint prints each object that is added, modified or deleted, until ctx ends. A watch that ends is resumed at
// its last position.
func watchAndPrint(ctx context.Context, client dynamic.ResourceInterface, options metav1.ListOptions, show itemPrinter) error {
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, options.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = options.LabelSelector
			return client.Watch(ctx, o)
		},
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		switch o := event.Object.(type) {
		case *unstructured.Unstructured:
			if err := show(*o); err != nil {
				return err
			}
		case *metav1.Status:
			return apierrors.FromObject(o)
		}
	}
	return ctx.Err()
}
