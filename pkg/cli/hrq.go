package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// quotaResource is read untyped, in the version of HNC.
var quotaResource = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchicalresourcequotas"}

type hrqOptions struct {
	genericiooptions.IOStreams
	factory *factory

	names []string
	// namespace is "" for all namespaces.
	namespace       string
	all, showLabels bool
	output          outputFlag
}

func newHRQCommand(f *factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &hrqOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:     "hrq [NAME...]",
		Short:   "Show hierarchical resource quotas and their usage",
		Example: "  kubectl hns hrq -n team-a",
		Args:    cobra.RangeArgs(0, math.MaxInt),
		RunE:    runOptions(o),
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "Show those of all namespaces; names are ignored")
	cmd.Flags().BoolVar(&o.showLabels, "show-labels", false, "Show labels in the last column")
	o.output.addFlag(cmd)
	return cmd
}

func (o *hrqOptions) complete(_ *cobra.Command, args []string) (err error) {
	if !o.all {
		o.names = args
		o.namespace, err = o.factory.namespace()
	}
	return err
}

func (o *hrqOptions) validate() error { return o.output.validate() }

func (o *hrqOptions) run(ctx context.Context) error {
	c, err := o.factory.clients()
	if err != nil {
		return err
	}
	quotas, err := o.read(ctx, c)
	if isUnserved(err) && o.factory.serves(quotaResource.GroupVersion()) {
		return errors.New("this cluster's server has no hierarchical resource quotas; see: kubectl api-resources --api-group=" + hnc.GroupName)
	}
	if err != nil {
		return err
	}
	printed, err := o.output.print(o.Out, quotas, func() []string {
		var names []string
		for i := range quotas.Items {
			names = append(names, "hierarchicalresourcequota."+hnc.GroupName+"/"+quotas.Items[i].GetName())
		}
		return names
	})
	if printed {
		return err
	}
	if len(quotas.Items) == 0 {
		where := ""
		if !o.all {
			where = fmt.Sprintf(" in %s namespace.", o.namespace)
		}
		_, _ = fmt.Fprintf(o.ErrOut, "No resources found%s\n", where)
		return errReported
	}
	return printQuotas(o.Out, quotas.Items, o.all, o.showLabels, time.Now())
}

// read returns the named quotas, or all.
func (o *hrqOptions) read(ctx context.Context, c *clients) (*unstructured.UnstructuredList, error) {
	client := c.dynamic.Resource(quotaResource).Namespace(o.namespace)
	if len(o.names) == 0 {
		return client.List(ctx, metav1.ListOptions{})
	}
	quotas := &unstructured.UnstructuredList{}
	quotas.SetGroupVersionKind(quotaResource.GroupVersion().WithKind("HierarchicalResourceQuotaList"))
	for _, name := range o.names {
		quota, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		quotas.Items = append(quotas.Items, *quota)
	}
	return quotas, nil
}

// printQuotas writes the quotas as kubectl does.
func printQuotas(w io.Writer, quotas []unstructured.Unstructured, namespaces, showLabels bool, now time.Time) error {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "string"},
		{Name: "Request", Type: "string"}, {Name: "Limit", Type: "string"},
	}}
	if namespaces {
		table.ColumnDefinitions = slices.Insert(table.ColumnDefinitions, 0, metav1.TableColumnDefinition{Name: "Namespace", Type: "string"})
	}
	if showLabels {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: "Labels", Type: "string"})
	}
	for i := range quotas {
		q := &quotas[i]
		requests, limits := consumption(q)
		cells := []any{q.GetName(), duration.HumanDuration(now.Sub(q.GetCreationTimestamp().Time)), requests, limits}
		if namespaces {
			cells = slices.Insert(cells, 0, any(q.GetNamespace()))
		}
		if showLabels {
			cells = append(cells, labels.FormatLabels(q.GetLabels()))
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	return printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, w)
}

// consumption returns the cells of requests and of limits: "pods: 1/3, secrets: 0/6". Source: spec/hnc.md 1.5.
func consumption(quota *unstructured.Unstructured) (requests, limits string) {
	hard, _, _ := unstructured.NestedMap(quota.Object, "status", "hard")
	used, _, _ := unstructured.NestedMap(quota.Object, "status", "used")
	var r, l []string
	for name := range hard {
		cell := fmt.Sprintf("%s: %s/%s", name, quantity(used[name]), quantity(hard[name]))
		if strings.HasPrefix(name, "limits.") {
			l = append(l, cell)
		} else {
			r = append(r, cell)
		}
	}
	slices.Sort(r)
	slices.Sort(l)
	return strings.Join(r, ", "), strings.Join(l, ", ")
}

// quantity returns the canonical form of a quantity; a missing one is zero.
func quantity(value any) string {
	if value == nil {
		return "0"
	}
	q, err := resource.ParseQuantity(fmt.Sprint(value))
	if err != nil {
		return fmt.Sprint(value)
	}
	return q.String()
}
