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
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// quotaResource is read untyped, in the version in which HNC had it.
var quotaResource = schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchicalresourcequotas"}

func newHRQ(e *Environment) *cobra.Command {
	var (
		all, showLabels bool
		out             output
	)
	cmd := &cobra.Command{
		Use:     "hrq [NAME...]",
		Short:   "Show hierarchical resource quotas, and how much of them is used",
		Example: "  kubectl hns hrq -n team-a",
		Args:    cobra.RangeArgs(0, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return e.quotas(cmd.Context(), args, all, showLabels, &out)
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "Show those of all namespaces; names are ignored")
	cmd.Flags().BoolVar(&showLabels, "show-labels", false, "Show labels in the last column")
	out.addFlag(e, cmd)
	return cmd
}

func (e *Environment) quotas(ctx context.Context, names []string, all, showLabels bool, out *output) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	namespace, where := metav1.NamespaceAll, ""
	if !all {
		if namespace, err = e.namespace(); err != nil {
			return err
		}
		where = fmt.Sprintf(" in %s namespace.", namespace)
	}
	quotas := &unstructured.UnstructuredList{}
	quotas.SetGroupVersionKind(quotaResource.GroupVersion().WithKind("HierarchicalResourceQuotaList"))
	if all || len(names) == 0 {
		quotas, err = c.dynamic.Resource(quotaResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	} else {
		for _, name := range names {
			var quota *unstructured.Unstructured
			if quota, err = c.dynamic.Resource(quotaResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
				break
			}
			quotas.Items = append(quotas.Items, *quota)
		}
	}
	if isUnserved(err) && e.serves(quotaResource.Group, quotaResource.Version) {
		return errors.New("this cluster's server has no hierarchical resource quotas; see: kubectl api-resources --api-group=" + hnc.GroupName)
	}
	if err != nil {
		return err
	}
	printed, err := out.print(e, quotas, func() []string {
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
		_, _ = fmt.Fprintf(e.ErrOut, "No resources found%s\n", where)
		return errSilent
	}
	return printQuotas(e.Out, quotas.Items, all, showLabels, time.Now())
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

// quantity returns a quantity's canonical form; one that is absent is zero.
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
