package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type quotaOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	names []string
	// namespace is "" for all namespaces.
	namespace       string
	all, showLabels bool
	// tree shows the use of each namespace.
	tree   bool
	output OutputFlag
}

func newQuotaCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &quotaOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:     "quota [NAME...]",
		Aliases: []string{"hrq"},
		Short:   "Show hierarchical resource quotas and their usage",
		Example: `  kubectl hns quota -n team-a
  kubectl hns quota budget -n team-a --tree`,
		Args:              cobra.RangeArgs(0, math.MaxInt),
		ValidArgsFunction: CompleteArgs(math.MaxInt, f.completeQuotas),
		RunE:              RunOptions(o),
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "Show those of all namespaces; names are ignored")
	cmd.Flags().BoolVar(&o.showLabels, "show-labels", false, "Show labels in the last column")
	cmd.Flags().BoolVar(&o.tree, "tree", false, "Show which namespaces use how much")
	o.output.AddFlag(cmd)
	return cmd
}

func (o *quotaOptions) Complete(_ *cobra.Command, args []string) (err error) {
	if !o.all {
		o.names = args
		o.namespace, err = o.factory.namespace()
	}
	return err
}

func (o *quotaOptions) Validate() error {
	if o.tree && o.showLabels {
		return UsageErrorf("--show-labels adds a column to the table, which --tree replaces; give one of them")
	}
	return o.output.Validate()
}

func (o *quotaOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	quotas, err := o.read(ctx, c)
	if isUnserved(err) && o.factory.serves(v1beta1.SchemeGroupVersion) {
		return errors.New("this cluster's server has no hierarchical resource quotas; see: kubectl api-resources --api-group=" + hnc.GroupName)
	}
	if err != nil {
		return err
	}
	printed, err := o.output.Print(o.Out, quotas, func() []string {
		var all []string
		for i := range quotas.Items {
			name := names.Object(v1beta1.SchemeGroupVersion.WithKind("HierarchicalResourceQuota").GroupKind(), quotas.Items[i].Name)
			if o.all {
				name = quotas.Items[i].Namespace + "/" + name
			}
			all = append(all, name)
		}
		return all
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
		return ErrReported
	}
	if o.tree {
		return o.printUse(ctx, c, quotas.Items)
	}
	return printQuotas(o.Out, quotas.Items, o.all, o.showLabels, time.Now())
}

// read returns the named quotas, or all.
func (o *quotaOptions) read(ctx context.Context, c *Clients) (*v1beta1.HierarchicalResourceQuotaList, error) {
	client, quotas := c.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(o.namespace), &v1beta1.HierarchicalResourceQuotaList{}
	if len(o.names) == 0 {
		list, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		quotas = list
	}
	for _, name := range o.names {
		quota, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		quotas.Items = append(quotas.Items, *quota)
	}
	quotas.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("HierarchicalResourceQuotaList"))
	for i := range quotas.Items {
		quotas.Items[i].SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("HierarchicalResourceQuota"))
	}
	return quotas, nil
}

// printQuotas writes the quotas as kubectl does.
func printQuotas(w io.Writer, quotas []v1beta1.HierarchicalResourceQuota, namespaces, showLabels bool, now time.Time) error {
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
		requests, limits := hnc.QuotaSummaries(q.Status.Hard, q.Status.Used)
		cells := []any{q.Name, duration.HumanDuration(now.Sub(q.CreationTimestamp.Time)), requests, limits}
		if namespaces {
			cells = slices.Insert(cells, 0, any(q.Namespace))
		}
		if showLabels {
			cells = append(cells, labels.FormatLabels(q.Labels))
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	return printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, w)
}
