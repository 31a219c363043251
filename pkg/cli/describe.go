package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type describeOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	namespace string
	output    OutputFlag
}

func newDescribeCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &describeOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:               "describe NAMESPACE",
		Short:             "Show a namespace's parent, children and conditions, and recent events",
		Example:           "  kubectl hns describe team-a",
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: CompleteArgs(1, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	o.output.AddFlag(cmd)
	return cmd
}

func (o *describeOptions) Complete(_ *cobra.Command, args []string) error {
	o.namespace = args[0]
	return nil
}

func (o *describeOptions) Validate() error { return o.output.Validate() }

func (o *describeOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	ns, err := c.namespaces.Get(ctx, o.namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	h, err := getHierarchy(ctx, c, o.namespace)
	if err != nil {
		return err
	}
	h.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("Hierarchy"))
	if printed, err := o.output.Print(o.Out, h, func() []string { return []string{"hierarchy." + hnc.GroupName + "/" + h.Name} }); printed {
		return err
	}
	subs, err := c.Hierarchy.HncV1beta1().Subnamespaces(o.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	events, err := c.Kube.CoreV1().Events(o.namespace).List(ctx, metav1.ListOptions{FieldSelector: "source=" + hnc.GroupName})
	switch {
	case apierrors.IsForbidden(err):
		Warnf(o.ErrOut, "events are left out: missing permission: %s", missingPermission(err))
		events = nil
	case err != nil:
		return err
	}
	q := &origin.Question{Chain: []origin.Namespace{{Name: o.namespace}}, Labels: ns.Labels}
	if err := readRules(ctx, c, q); err != nil {
		return err
	}
	if q.Excluded != "" {
		_, _ = io.WriteString(o.Out, names.Line("Namespace %s is %s", o.namespace, q.Excluded))
	}
	if err := describeHierarchy(o.Out, h, subs.Items); err != nil || events == nil {
		return err
	}
	return describeEvents(o.Out, o.namespace, events.Items, time.Now())
}

// describeHierarchy writes the part of docs/spec/hnc.md 4.1 before the events.
func describeHierarchy(w io.Writer, h *v1beta1.Hierarchy, subs []v1beta1.Subnamespace) error {
	var s strings.Builder
	fmt.Fprintf(&s, "Hierarchy configuration for namespace %s\n", h.Namespace)
	if h.Spec.Parent != "" {
		s.WriteString(names.Line("  Parent: %s", h.Spec.Parent))
	} else {
		s.WriteString("  No parent\n")
	}
	if len(h.Spec.AbstractAncestors) > 0 {
		s.WriteString(names.Line("  Abstract Ancestors: %s", strings.Join(h.Spec.AbstractAncestors, ", ")))
	}
	section(&s, "children", "Children", childLines(h.Status.Children, subs))
	fmt.Fprintf(&s, "  Allows Cascading Deletion: %t\n", ptr.Deref(h.Spec.AllowCascadingDeletion, false))
	var conditions []string
	for _, condition := range tree.Problems(h.Status.Details()) {
		conditions = append(conditions, tree.FormatCondition(condition))
	}
	section(&s, "conditions", "Conditions", conditions)
	_, err := io.WriteString(w, s.String())
	return err
}

func section(s *strings.Builder, none, title string, items []string) {
	if len(items) == 0 {
		fmt.Fprintf(s, "  No %s\n", none)
		return
	}
	fmt.Fprintf(s, "  %s:\n", title)
	for _, item := range items {
		s.WriteString(names.Line("  - %s", item))
	}
}

// childLines returns the sorted lines of the children, and of Subnamespaces that are not children.
func childLines(names []string, subs []v1beta1.Subnamespace) []string {
	children := sets.New(names...)
	states := map[string]v1beta1.SubnamespaceState{}
	for i := range subs {
		states[subs[i].Name] = subs[i].Status.State
	}
	var lines []string
	for _, name := range names {
		if _, sub := states[name]; sub {
			name += " (subnamespace)"
		}
		lines = append(lines, name)
	}
	for name, state := range states {
		if !children.Has(name) {
			lines = append(lines, fmt.Sprintf("%s (%s subnamespace)", name, state))
		}
	}
	slices.Sort(lines)
	return lines
}

// describeEvents writes the propagator's events.
func describeEvents(w io.Writer, namespace string, events []corev1.Event, now time.Time) error {
	events = latestEvents(slices.DeleteFunc(events, func(e corev1.Event) bool { return e.Source.Component != hnc.GroupName }), now)
	if len(events) == 0 {
		_, err := fmt.Fprint(w, "\nNo recent HNC events for objects in this namespace\n")
		return err
	}
	if _, err := fmt.Fprintf(w, "\nEvents from the objects in namespace %s\n", namespace); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 8, 1, ' ', 0)
	_, _ = fmt.Fprintln(table, "Last Seen\tReason\tObject\tMessage")
	for i := range events {
		e := &events[i]
		_, _ = io.WriteString(table, names.Row(duration.HumanDuration(max(0, now.Sub(lastSeen(e, now)))), e.Reason, eventObject(e), e.Message))
	}
	return table.Flush()
}
