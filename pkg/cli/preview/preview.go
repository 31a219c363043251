// Package preview shows what a change would do, as text. It has no clients.
package preview

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Append adds a further page of an answer to those before. A page may end in the middle of a namespace.
func Append(all, page *v1beta1.HierarchyPlan) {
	more := page.Status.Namespaces
	if n := len(all.Status.Namespaces); n > 0 && len(more) > 0 && all.Status.Namespaces[n-1].Name == more[0].Name {
		last := &all.Status.Namespaces[n-1]
		last.Objects = append(last.Objects, more[0].Objects...)
		more = more[1:]
	}
	all.Status.Namespaces = append(all.Status.Namespaces, more...)
}

// Text returns the whole answer about a change of a namespace as lines; differences are left out unless asked for.
func Text(namespace string, plan *v1beta1.HierarchyPlan, differences bool) string {
	var b strings.Builder
	status := plan.Status
	does := effect(status.Summary)
	if len(status.Refusals) > 0 && status.Summary == (v1beta1.PlanSummary{}) {
		does = "be refused" // to a requester who may not make the change, nothing else is said
	}
	fmt.Fprintf(&b, "%s would %s.\n", act(namespace, plan.Spec), does)
	for _, n := range status.Namespaces {
		b.WriteString("\n" + n.Name)
		if n.Fate != "" {
			b.WriteString(" (" + strings.ToLower(string(n.Fate)) + ")")
		}
		b.WriteString("\n")
		for _, o := range n.Objects {
			object(&b, o, differences)
		}
		for _, a := range n.Access {
			fmt.Fprintf(&b, "  %s %s %s/%s\n", subject(a), verbs[a.Change], a.RoleKind, a.Role)
		}
		for _, q := range n.Quotas {
			fmt.Fprintf(&b, "  ResourceQuota %s allows %d of %s, and there would be %d\n", q.Name, q.Hard, q.Resource, q.Planned)
		}
	}
	if len(status.Hidden) > 0 {
		kinds := make([]string, 0, len(status.Hidden))
		for _, h := range status.Hidden {
			kinds = append(kinds, schema.GroupResource{Group: h.Group, Resource: h.Resource}.String())
		}
		fmt.Fprintf(&b, "\nLeft out, because you may not list these in %s: %s\n", namespace, strings.Join(kinds, ", "))
	}
	for _, unknown := range status.Unknown {
		b.WriteString("\nNot known: " + unknown + "\n")
	}
	for _, r := range status.Refusals {
		fmt.Fprintf(&b, "\nIt would be refused (%s): %s\n", r.Reason, r.Message)
	}
	return b.String()
}

// marks stand before objects.
var marks = map[v1beta1.PlannedAction]string{
	v1beta1.ActionAdd: "+", v1beta1.ActionChange: "~", v1beta1.ActionOverwrite: "!", v1beta1.ActionRemove: "-", v1beta1.ActionKeep: "=",
}

var verbs = map[v1beta1.AccessChange]string{v1beta1.AccessGained: "gains", v1beta1.AccessLost: "loses"}

func act(namespace string, spec v1beta1.HierarchyPlanSpec) string {
	switch {
	case spec.Change == v1beta1.ChangeParent && spec.Parent == "":
		return fmt.Sprintf("Making %s a root", namespace)
	case spec.Change == v1beta1.ChangeParent:
		return fmt.Sprintf("Giving %s the parent %s", namespace, spec.Parent)
	case spec.Change == v1beta1.ChangeDelete:
		return fmt.Sprintf("Deleting %s", namespace)
	case spec.Change == v1beta1.ChangePropagation:
		return fmt.Sprintf("Changing what is propagated from %s down", namespace)
	}
	return fmt.Sprintf("Changing the cluster's configuration, seen in %s and below,", namespace)
}

// effect sums up the answer; what does not happen is not mentioned.
func effect(s v1beta1.PlanSummary) string {
	var said []string
	say := func(n int32, verb, what string) {
		if n > 0 {
			said = append(said, fmt.Sprintf("%s %s", verb, count(n, what)))
		}
	}
	say(s.Deleted, "delete", "namespace")
	say(s.Orphaned, "orphan", "namespace")
	say(s.Added, "add", "object")
	say(s.Changed, "change", "object")
	say(s.Overwritten, "overwrite", "object")
	say(s.Removed, "remove", "object")
	say(s.Kept, "keep", "object")
	switch len(said) {
	case 0:
		return "write no object"
	case 1:
		return said[0]
	}
	return strings.Join(said[:len(said)-1], ", ") + " and " + said[len(said)-1]
}

func count(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func object(b *strings.Builder, o v1beta1.PlannedObject, difference bool) {
	fmt.Fprintf(b, "  %s %s/%s", marks[o.Action], o.Kind, o.Name)
	if o.Source != "" {
		b.WriteString(" (from " + o.Source + ")")
	}
	b.WriteString("\n")
	if !difference {
		return
	}
	for line := range strings.Lines(o.Difference) {
		b.WriteString("      " + line)
	}
	if o.Difference != "" && !strings.HasSuffix(o.Difference, "\n") {
		b.WriteString("\n")
	}
}

func subject(a v1beta1.PlannedAccess) string {
	if a.Namespace != "" {
		return fmt.Sprintf("%s %s/%s", a.Kind, a.Namespace, a.Name)
	}
	return a.Kind + " " + a.Name
}
