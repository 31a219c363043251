package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

type repoStatusOptions struct {
	genericiooptions.IOStreams
	factory *factory

	names  []string
	output outputFlag
}

func newRepoStatusCommand(f *factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoStatusOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "status [NAME...]",
		Short: "Show whether the cluster is as repositories say",
		Long: `Show the RepositorySyncs of the cluster: the commit that is applied, the latest commit that was read, and for each that is not synced the reason,
the errors of the repository and the objects that could not be written. The exit code is 1 unless all of them are synced.`,
		Example: `  kubectl hns repo status
  kubectl hns repo status policy -o json
  kubectl wait repositorysync/policy --for=condition=Synced`,
		ValidArgsFunction: completeArgs(math.MaxInt, f.completeRepositorySyncs),
		RunE:              runOptions(o),
	}
	o.output.addFlag(cmd)
	return cmd
}

func (o *repoStatusOptions) complete(_ *cobra.Command, args []string) error {
	o.names = args
	return nil
}

func (o *repoStatusOptions) validate() error {
	for _, name := range o.names {
		if isPattern(name) {
			return usageErrorf("%q is not the name of a RepositorySync: patterns are not expanded; give each name", name)
		}
	}
	return o.output.validate()
}

func (o *repoStatusOptions) run(ctx context.Context) error {
	c, err := o.factory.clients()
	if err != nil {
		return err
	}
	syncs, err := o.read(ctx, c)
	if err != nil {
		return err
	}
	printed, err := o.output.print(o.Out, syncs, func() []string {
		var names []string
		for i := range syncs.Items {
			names = append(names, "repositorysync."+hnc.GroupName+"/"+syncs.Items[i].Name)
		}
		return names
	})
	if err != nil {
		return err
	}
	if !printed {
		if len(syncs.Items) == 0 {
			_, _ = fmt.Fprintln(o.ErrOut, "No RepositorySyncs found.")
			return errReported
		}
		if err := printSyncs(o.Out, syncs.Items); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(syncs.Items, func(s v1beta1.RepositorySync) bool { return syncedCondition(&s).Status != metav1.ConditionTrue }) {
		return errReported
	}
	return nil
}

// read returns the named RepositorySyncs, or all.
func (o *repoStatusOptions) read(ctx context.Context, c *clients) (*v1beta1.RepositorySyncList, error) {
	client, syncs := c.hierarchy.HncV1beta1().RepositorySyncs(), &v1beta1.RepositorySyncList{}
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
	syncs.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("RepositorySyncList"))
	for i := range syncs.Items {
		syncs.Items[i].SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("RepositorySync"))
	}
	return syncs, nil
}

// syncedCondition returns the condition Synced, which is Unknown until hns-sync has observed the present spec.
func syncedCondition(s *v1beta1.RepositorySync) metav1.Condition {
	c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionSynced)
	if c == nil || c.ObservedGeneration < s.Generation {
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "Pending", Message: "hns-sync has not reported the present spec yet; if this persists, check that it runs"}
	}
	return *c
}

// printSyncs writes a table, and the problems of each RepositorySync that is not synced.
func printSyncs(w io.Writer, syncs []v1beta1.RepositorySync) error {
	table := &metav1.Table{}
	for _, name := range []string{"Name", "Synced", "Reason", "Applied", "Seen", "Namespaces", "Objects", "Failed"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for i := range syncs {
		s := &syncs[i]
		condition := syncedCondition(s)
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			s.Name, condition.Status, condition.Reason, abbreviated(s.Status.AppliedCommit), abbreviated(s.Status.SeenCommit),
			s.Status.Namespaces, s.Status.Objects, s.Status.Failed,
		}})
	}
	if err := printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, w); err != nil {
		return err
	}
	for i := range syncs {
		if text := syncProblems(&syncs[i], allowsColor(w)); text != "" {
			if _, err := fmt.Fprint(w, "\n"+text); err != nil {
				return err
			}
		}
	}
	return nil
}

// abbreviated returns the first digits of a commit, "-" for none.
func abbreviated(commit string) string { return cmp.Or(commit[:min(12, len(commit))], "-") }

// syncProblems returns why a RepositorySync is not synced, "" if it is. Texts of the repository are escaped.
func syncProblems(s *v1beta1.RepositorySync, color bool) string {
	condition := syncedCondition(s)
	if condition.Status == metav1.ConditionTrue {
		return ""
	}
	code := func(text string) string { return text }
	if color {
		code = ansi("31;1")
	}
	text := fmt.Sprintf("%s: %s\n", s.Name, names.Printable(condition.Message))
	for _, err := range s.Status.Errors {
		text += fmt.Sprintf("  %s: %s", code(names.Printable(err.Code)), names.Printable(err.Message))
		if err.Path != "" {
			text += " (" + names.Printable(err.Path) + ")"
		}
		text += "\n"
	}
	for _, f := range s.Status.Failures {
		name := report.ObjectName(schema.GroupKind{Group: f.Group, Kind: f.Kind}, f.Namespace, f.Name)
		text += fmt.Sprintf("  %s: %s\n", names.Printable(name), names.Printable(f.Message))
	}
	if more := int(s.Status.Failed) - len(s.Status.Failures); more > 0 {
		text += fmt.Sprintf("  and %d more objects\n", more)
	}
	return text
}
