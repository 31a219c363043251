package repo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type repoStatusOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory

	names  []string
	output cli.OutputFlag
}

func newRepoStatusCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoStatusOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "status [NAME...]",
		Short: "Show whether the cluster is as repositories say",
		Long: `Show the RepositorySyncs of the cluster: the commit that is applied, the latest commit that was read, and for each that is not synced the reason,
the errors of the repository and the objects that could not be written. The exit code is 1 unless all of them are synced, and hns-sync
runs: otherwise they are as it has left them.`,
		Example: `  kubectl hns repo status
  kubectl hns repo status policy -o json
  kubectl wait repositorysync/policy --for=condition=Ready`,
		ValidArgsFunction: cli.CompleteArgs(math.MaxInt, f.CompleteRepositorySyncs),
		RunE:              cli.RunOptions(o),
	}
	o.output.AddFlag(cmd)
	return cmd
}

func (o *repoStatusOptions) Complete(_ *cobra.Command, args []string) error {
	o.names = args
	return nil
}

func (o *repoStatusOptions) Validate() error {
	for _, name := range o.names {
		if cli.IsPattern(name) {
			return cli.UsageErrorf("%q is not the name of a RepositorySync: patterns are not expanded; give each name", name)
		}
	}
	return o.output.Validate()
}

func (o *repoStatusOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	syncs, err := o.read(ctx, c)
	if err != nil {
		return err
	}
	printed, err := o.output.Print(o.Out, syncs, func() []string {
		var names []string
		for i := range syncs.Items {
			names = append(names, "repositorysync."+hnc.GroupName+"/"+syncs.Items[i].Name)
		}
		return names
	})
	if err != nil {
		return err
	}
	if len(syncs.Items) == 0 {
		_, _ = fmt.Fprintln(o.ErrOut, "No RepositorySyncs found.")
		return cli.ErrReported
	}
	if !printed {
		if err := printSyncs(o.Out, syncs.Items); err != nil {
			return err
		}
	}
	if err := o.running(ctx, c); err != nil {
		return err
	}
	if slices.ContainsFunc(syncs.Items, func(s v1alpha3.RepositorySync) bool { return diagnosis.SyncReady(&s).Status != metav1.ConditionTrue }) {
		return cli.ErrReported
	}
	return nil
}

// running returns an error if hns-sync does not run: then statuses say how the cluster was. Users who may not read the
// lease get a warning.
func (o *repoStatusOptions) running(ctx context.Context, c *cli.Clients) error {
	now, err := o.factory.ServerTime(ctx)
	if err != nil {
		return err
	}
	lease, err := c.Lease(ctx, hnc.SyncName)
	if apierrors.IsForbidden(err) {
		cli.Warnf(o.ErrOut, "whether hns-sync runs is not known: %s", cli.ServerMessage(err))
		return nil
	}
	if err != nil {
		return err
	}
	if found := diagnosis.Leader(hnc.SyncName, lease, now); found.Severity == diagnosis.Error {
		_, _ = io.WriteString(o.ErrOut, names.Line("%s: %s; %s", found.Subject, found.Text, found.Hint))
		return cli.ErrReported
	}
	return nil
}

// read returns the named RepositorySyncs, or all.
func (o *repoStatusOptions) read(ctx context.Context, c *cli.Clients) (*v1alpha3.RepositorySyncList, error) {
	client, syncs := c.Hierarchy.HncV1alpha3().RepositorySyncs(), &v1alpha3.RepositorySyncList{}
	if len(o.names) == 0 {
		list, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		syncs = list
	}
	for _, name := range o.names {
		s, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		syncs.Items = append(syncs.Items, *s)
	}
	syncs.SetGroupVersionKind(v1alpha3.SchemeGroupVersion.WithKind("RepositorySyncList"))
	for i := range syncs.Items {
		syncs.Items[i].SetGroupVersionKind(v1alpha3.SchemeGroupVersion.WithKind("RepositorySync"))
	}
	return syncs, nil
}

// printSyncs writes a table, and the problems of each RepositorySync that is not synced.
func printSyncs(w io.Writer, syncs []v1alpha3.RepositorySync) error {
	table := &metav1.Table{}
	for _, name := range []string{"Name", "Ready", "Reason", "Applied", "Seen", "Namespaces", "Objects", "Failed"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for i := range syncs {
		s := &syncs[i]
		condition := diagnosis.SyncReady(s)
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			s.Name, condition.Status, condition.Reason, abbreviated(s.Status.AppliedCommit), abbreviated(s.Status.SeenCommit),
			s.Status.Namespaces, s.Status.Objects, s.Status.Failed,
		}})
	}
	if err := printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, w); err != nil {
		return err
	}
	for i := range syncs {
		if text := cli.SyncProblems(&syncs[i], cli.AllowsColor(w)); text != "" {
			if _, err := fmt.Fprint(w, "\n"+text); err != nil {
				return err
			}
		}
	}
	return nil
}

// abbreviated returns the first digits of a commit, "-" for none.
func abbreviated(commit string) string { return cmp.Or(commit[:min(12, len(commit))], "-") }
