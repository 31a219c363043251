// Package preview formats a plan as text. It has no clients.
package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Append adds the next page of a plan. A page may end in the middle of a namespace, and says what is unknown about
// access and quotas in its namespaces.
func Append(all, page *v1alpha3.HierarchyPlan) {
	for _, unknown := range page.Status.Unknown {
		if !slices.Contains(all.Status.Unknown, unknown) {
			all.Status.Unknown = append(all.Status.Unknown, unknown)
		}
	}
	more := page.Status.Namespaces
	if n := len(all.Status.Namespaces); n > 0 && len(more) > 0 && all.Status.Namespaces[n-1].Name == more[0].Name {
		last := &all.Status.Namespaces[n-1]
		last.Objects, last.Access = append(last.Objects, more[0].Objects...), append(last.Access, more[0].Access...)
		more = more[1:]
	}
	all.Status.Namespaces = append(all.Status.Namespaces, more...)
}

// Summary returns a sentence that says what a change would do.
func Summary(namespace string, plan *v1alpha3.HierarchyPlan) string {
	return fmt.Sprintf("%s would %s.", describeChange(namespace, plan.Spec), Outcome(plan))
}

// Outcome returns what follows "would" in a sentence about a change.
func Outcome(plan *v1alpha3.HierarchyPlan) string {
	if len(plan.Status.Refusals) > 0 && plan.Status.Summary == (v1alpha3.PlanSummary{}) {
		return "be refused" // the server reports nothing else to a requester who may not make the change
	}
	return effect(plan.Status.Summary)
}

// Text formats a complete plan for a namespace. Differences of objects are included on request.
func Text(namespace string, plan *v1alpha3.HierarchyPlan, differences bool) string {
	var b strings.Builder
	status := plan.Status
	b.WriteString(names.Line("%s", Summary(namespace, plan)))
	for _, n := range status.Namespaces {
		b.WriteString("\n" + names.Printable(n.Name))
		if n.Fate != "" {
			b.WriteString(" (" + strings.ToLower(string(n.Fate)) + ")")
		}
		b.WriteString("\n")
		for _, l := range n.Labels {
			b.WriteString(names.Line("  label %s: %s", l.Key, labelChange(l)))
		}
		for _, o := range n.Objects {
			writeObject(&b, o, differences)
		}
		for _, a := range n.Access {
			b.WriteString(names.Line("  %s %s %s/%s", subject(a), verbs[a.Change], a.RoleKind, a.Role))
		}
		for _, q := range n.Quotas {
			b.WriteString(names.Line("  ResourceQuota %s allows %d of %s, and there would be %d", q.Name, q.Hard, q.Resource, q.Planned))
		}
	}
	writeExceeded(&b, status)
	if len(status.Hidden) > 0 {
		kinds := make([]string, 0, len(status.Hidden))
		for _, h := range status.Hidden {
			kinds = append(kinds, schema.GroupResource{Group: h.Group, Resource: h.Resource}.String())
		}
		fmt.Fprintf(&b, "\nLeft out, because you may not list these in %s: %s\n", namespace, strings.Join(kinds, ", "))
	}
	for _, unknown := range status.Unknown {
		b.WriteString("\n" + names.Line("Not known: %s", unknown))
	}
	for _, r := range status.Refusals {
		b.WriteString("\n" + names.Line("It would be refused (%s): %s", r.Reason, r.Message))
	}
	return b.String()
}

// writeExceeded writes a table of the hierarchical quotas that a move would exceed.
func writeExceeded(b *strings.Builder, status v1alpha3.HierarchyPlanStatus) {
	if len(status.ExceededQuotas) > 0 {
		b.WriteString("\nIt would exceed hierarchical quotas:\n")
		w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
		_, _ = fmt.Fprintln(w, "  NAMESPACE\tQUOTA\tRESOURCE\tUSED\tMOVED\tLIMIT")
		for _, e := range status.ExceededQuotas {
			_, _ = io.WriteString(w, names.Row("  "+e.Namespace, e.Name, e.Resource, e.Used, e.Moved, e.Limit))
		}
		_ = w.Flush() // a strings.Builder does not fail
	}
	if n := status.OmittedExceededQuotas; n > 0 {
		fmt.Fprintf(b, "\nIt would exceed %s of hierarchical quotas that are left out: you may not get them, or there are too many\n", count(n, "limit"))
	}
}

// marks precede objects.
var marks = map[v1alpha3.PlannedAction]string{
	v1alpha3.ActionAdd: "+", v1alpha3.ActionChange: "~", v1alpha3.ActionOverwrite: "!", v1alpha3.ActionRemove: "-", v1alpha3.ActionKeep: "=",
}

var verbs = map[v1alpha3.AccessChange]string{v1alpha3.AccessGained: "gains", v1alpha3.AccessLost: "loses"}

func describeChange(namespace string, spec v1alpha3.HierarchyPlanSpec) string {
	switch {
	case spec.Change == v1alpha3.ChangeParent && spec.Parent == "":
		return fmt.Sprintf("Making %s a root", namespace)
	case spec.Change == v1alpha3.ChangeParent:
		return fmt.Sprintf("Giving %s the parent %s", namespace, spec.Parent)
	case spec.Change == v1alpha3.ChangeDelete:
		return fmt.Sprintf("Deleting %s", namespace)
	case spec.Change == v1alpha3.ChangeAbstractAncestors && len(spec.AbstractAncestors) == 0:
		return fmt.Sprintf("Removing the abstract ancestors of %s", namespace)
	case spec.Change == v1alpha3.ChangeAbstractAncestors:
		return fmt.Sprintf("Giving %s the abstract ancestors %s", namespace, strings.Join(spec.AbstractAncestors, ", "))
	case spec.Change == v1alpha3.ChangePropagation:
		return fmt.Sprintf("Changing what is propagated from %s down", namespace)
	}
	return fmt.Sprintf("Changing the cluster's configuration, seen in %s and below,", namespace)
}

func labelChange(l v1alpha3.PlannedLabel) string {
	switch {
	case l.Before == "":
		return "added as " + l.After
	case l.After == "":
		return "removed"
	}
	return l.Before + " becomes " + l.After
}

// effect summarizes the plan; it leaves out actions that do not occur.
func effect(s v1alpha3.PlanSummary) string {
	var parts []string
	add := func(n int32, verb, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", verb, count(n, what)))
		}
	}
	add(s.Deleted, "delete", "namespace")
	add(s.Orphaned, "orphan", "namespace")
	add(s.Added, "add", "object")
	add(s.Changed, "change", "object")
	add(s.Overwritten, "overwrite", "object")
	add(s.Removed, "remove", "object")
	add(s.Kept, "keep", "object")
	switch len(parts) {
	case 0:
		return "write no object"
	case 1:
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

func count(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func writeObject(b *strings.Builder, o v1alpha3.PlannedObject, difference bool) {
	from := ""
	if o.Source != "" {
		from = " (from " + o.Source + ")"
	}
	b.WriteString(names.Line("  %s %s/%s%s", marks[o.Action], o.Kind, o.Name, from))
	if !difference {
		return
	}
	for line := range strings.Lines(o.Difference) {
		b.WriteString(names.Line("      %s", strings.TrimSuffix(line, "\n")))
	}
}

func subject(a v1alpha3.PlannedAccess) string {
	if a.Namespace != "" {
		return fmt.Sprintf("%s %s/%s", a.Kind, a.Namespace, a.Name)
	}
	return a.Kind + " " + a.Name
}
