package hierarchytree

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ConvertToTable prints a row for each namespace, indented by its depth.
func (r *REST) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	t, ok := object.(*hnc.HierarchyTree)
	if !ok {
		return nil, fmt.Errorf("cannot print a %T", object)
	}
	table := &metav1.Table{Rows: make([]metav1.TableRow, len(t.Nodes))}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		table.ColumnDefinitions = []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: "The namespace, indented by its depth."},
			{Name: "Kind", Type: "string", Description: "Full, Subnamespace, External or Missing."},
			{Name: "Cascading", Type: "boolean", Description: "Whether cascading deletion is allowed here."},
			{Name: "Conditions", Type: "string", Description: "Problems with the namespace's position in the tree."},
		}
	}
	for i, node := range t.Nodes {
		conditions := make([]string, len(node.Conditions))
		for j, c := range node.Conditions {
			conditions[j] = fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason)
		}
		table.Rows[i] = metav1.TableRow{
			Cells: []any{strings.Repeat("  ", int(node.Depth)) + node.Name, string(node.Kind), node.AllowCascadingDeletion, strings.Join(conditions, ", ")},
			// Each row contains a tree of its own.
			Object: runtime.RawExtension{Object: &hnc.HierarchyTree{
				ObjectMeta: metav1.ObjectMeta{Namespace: node.Name, Name: t.Name},
				Nodes:      t.Nodes[i : i+1],
			}},
		}
	}
	return table, nil
}
