package table

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

var hierarchies = New(Column[hnc.Hierarchy]{Name: "Parent", Type: "string", Wide: true, Cell: func(h *hnc.Hierarchy) any { return h.Spec.Parent }})

func hierarchy(namespace string) hnc.Hierarchy {
	return hnc.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton, ResourceVersion: "7", CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour))},
		Spec:       hnc.HierarchySpec{Parent: "above-" + namespace},
	}
}

func TestRowsHaveNameColumnsAndAge(t *testing.T) {
	one := hierarchy("a")
	list := &hnc.HierarchyList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"}, Items: []hnc.Hierarchy{hierarchy("a"), hierarchy("b")}}
	for name, test := range map[string]struct {
		object                runtime.Object
		parents               []string
		resourceVersion, next string
	}{
		"an object":     {&one, []string{"above-a"}, "7", ""},
		"a list":        {list, []string{"above-a", "above-b"}, "9", "more"},
		"an empty list": {&hnc.HierarchyList{}, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := hierarchies.ConvertToTable(t.Context(), test.object, nil)
			if err != nil {
				t.Fatal(err)
			}
			var parents []string
			for _, row := range table.Rows {
				if len(row.Cells) != 3 || row.Cells[0] != hnc.Singleton || row.Cells[2] != "60m" || row.Object.Object == nil {
					t.Errorf("got the row %v", row)
				}
				parents = append(parents, row.Cells[1].(string))
			}
			if diff := cmp.Diff(test.parents, parents); diff != "" || table.ResourceVersion != test.resourceVersion || table.Continue != test.next {
				t.Errorf("%s %v", diff, table.ListMeta)
			}
			var headings []string
			for _, column := range table.ColumnDefinitions {
				headings = append(headings, column.Name)
			}
			if strings.Join(headings, " ") != "Name Parent Age" || table.ColumnDefinitions[1].Priority != 1 {
				t.Errorf("got the columns %v", table.ColumnDefinitions)
			}
		})
	}
}

func TestHeadersAreOptional(t *testing.T) {
	one := hierarchy("a")
	table, err := hierarchies.ConvertToTable(t.Context(), &one, &metav1.TableOptions{NoHeaders: true})
	if err != nil || len(table.ColumnDefinitions) != 0 || len(table.Rows) != 1 {
		t.Errorf("got %v, %v", table, err)
	}
}

func TestOtherKindsAreNotPrinted(t *testing.T) {
	if _, err := hierarchies.ConvertToTable(t.Context(), &hnc.Subnamespace{}, nil); err == nil {
		t.Error("a Subnamespace was printed as a Hierarchy")
	}
}
