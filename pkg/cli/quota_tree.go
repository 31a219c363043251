package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// printUse writes, for each quota, which namespaces use how much.
func (o *quotaOptions) printUse(ctx context.Context, c *Clients, quotas []v1beta1.HierarchicalResourceQuota) error {
	trees := map[string]*tree.Tree{}
	for i := range quotas {
		q := &quotas[i]
		if trees[q.Namespace] == nil {
			t, err := loadTrees(ctx, c, []string{q.Namespace})
			if err != nil {
				return err
			}
			trees[q.Namespace] = t
		}
		if i > 0 {
			_, _ = fmt.Fprintln(o.Out)
		}
		requests, limits := hnc.QuotaSummaries(q.Status.Hard, q.Status.Used)
		summary := strings.Join(slices.DeleteFunc([]string{requests, limits}, func(s string) bool { return s == "" }), ", ")
		if summary == "" {
			summary = "no use is known yet"
		}
		_, _ = io.WriteString(o.Out, names.Line("%s (%s): %s", q.Name, q.Namespace, summary)+"\n")
		used := map[string]string{}
		for _, n := range q.Status.Namespaces {
			used[n.Namespace] = formatUse(n.Used)
		}
		if err := trees[q.Namespace].WriteUse(o.Out, q.Namespace, used); err != nil {
			return err
		}
		if q.Status.OmittedNamespaces > 0 {
			_, _ = fmt.Fprintf(o.Out, "and %d more namespaces\n", q.Status.OmittedNamespaces)
		}
	}
	return nil
}

// formatUse returns the resources that are used, in the order of their names, as many as fit into a row: "pods: 1,
// secrets: 2, and 3 more".
func formatUse(used hnc.ResourceList) string {
	var cells []string
	fit, room := 0, names.MaxText-len(", and 99999 more")
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if quantity := used[name]; !quantity.IsZero() {
			cells = append(cells, string(name)+": "+quantity.String())
			if room -= len(cells[len(cells)-1]) + len(", "); room >= 0 {
				fit++
			}
		}
	}
	return names.List(cells, fit, ", ")
}
