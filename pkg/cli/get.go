package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// subtreeVersion is the API that lists across a subtree. Source: spec/hnc.md 1.8.
var subtreeVersion = schema.GroupVersion{Group: "resources.hnc.x-k8s.io", Version: "v1alpha2"}

func newGet(e *Environment) *cobra.Command {
	var (
		all, watch bool
		selector   string
		out        output
	)
	cmd := &cobra.Command{
		Use:   "get RESOURCE",
		Short: "List objects of a kind in a namespace and everything below it",
		Example: `  kubectl hns get pods -n team-a
  kubectl hns get deployments.apps -n team-a --watch`,
		Args:              exactly(1, "one resource"),
		ValidArgsFunction: completeArgs(1, e.completeResources),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if watch && out.format != "" && out.format != "name" {
				return usage("--watch and --output=%s contradict each other; give one of them", out.format)
			}
			namespace := metav1.NamespaceAll
			if !all {
				var err error
				if namespace, err = e.namespace(); err != nil {
					return err
				}
			} else if cmd.Flags().Changed("namespace") {
				return contradict(cmd.Flags(), "all-namespaces", "namespace")
			}
			return e.get(cmd.Context(), args[0], namespace, metav1.ListOptions{LabelSelector: selector}, watch, &out)
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "List the objects of all namespaces")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "Then go on and show what changes")
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "List only objects whose labels this selects")
	out.addFlag(e, cmd)
	return cmd
}

func (e *Environment) get(ctx context.Context, name, namespace string, options metav1.ListOptions, follow bool, out *output) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	resource, err := e.resource(name)
	if err != nil {
		return err
	}
	served := resource.Resource
	if resource.Group != "" {
		served = resource.Group + "." + resource.Resource
	}
	client := c.dynamic.Resource(subtreeVersion.WithResource(served)).Namespace(namespace)
	list, err := client.List(ctx, options)
	if err != nil {
		return e.subtreeError(err)
	}
	names := func(items ...unstructured.Unstructured) []string {
		var names []string
		for i := range items {
			names = append(names, fmt.Sprintf("%s/%s", resource.GroupResource(), items[i].GetName()))
		}
		return names
	}
	printed, err := out.print(e, list, func() []string { return names(list.Items...) })
	if err != nil {
		return err
	}
	show := func(items ...unstructured.Unstructured) error {
		_, err := fmt.Fprint(e.Out, lines(names(items...)))
		return err
	}
	switch {
	case !printed && len(list.Items) == 0 && !follow:
		where := "."
		if namespace != "" {
			where = fmt.Sprintf(" in %s namespace and below.", namespace)
		}
		_, err := fmt.Fprintf(e.ErrOut, "No resources found%s\n", where)
		return err
	case !printed:
		show = rows(e.Out)
		if err := show(list.Items...); err != nil {
			return err
		}
	}
	if !follow {
		return nil
	}
	options.ResourceVersion = list.GetResourceVersion()
	return followChanges(ctx, client, options, show)
}

// subtreeError says that the API is absent, if that is what the error means.
func (e *Environment) subtreeError(err error) error {
	service := subtreeVersion.Version + "." + subtreeVersion.Group
	if apierrors.IsServiceUnavailable(err) || apierrors.IsNotFound(err) && !e.serves(subtreeVersion.Group, subtreeVersion.Version) {
		return fmt.Errorf("this cluster does not serve %s, which lists across a subtree: is APIService %s there and available?\n"+
			"Look with: kubectl get apiservice %s", subtreeVersion, service, service)
	}
	return err
}

// rows returns what writes objects as the rows of one table, the head first.
func rows(w io.Writer) func(items ...unstructured.Unstructured) error {
	// It remembers how wide its columns are.
	table := printers.GetNewTabWriter(w)
	_, _ = fmt.Fprintln(table, "NAMESPACE\tNAME\tAGE")
	return func(items ...unstructured.Unstructured) error {
		for i := range items {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", items[i].GetNamespace(), items[i].GetName(), age(&items[i]))
		}
		return table.Flush()
	}
}

func age(o *unstructured.Unstructured) string {
	created := o.GetCreationTimestamp()
	if created.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(created.Time))
}

// followChanges shows what is added, changes or goes, until ctx ends. A watch that ends is begun again where it ended.
func followChanges(ctx context.Context, client dynamic.ResourceInterface, options metav1.ListOptions, show func(...unstructured.Unstructured) error) error {
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
	return nil
}
