// Package table prints objects as the rows of a Table, for kubectl get.
package table

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Column is a column of objects of type T.
type Column[T any] struct {
	// Name is the column's heading.
	Name string
	// Type is its OpenAPI type.
	Type string
	// Wide columns are printed with -o wide only.
	Wide bool
	// Description says what the cells tell.
	Description string
	// Cell returns an object's cell.
	Cell func(*T) any
}

// New returns a convertor that prints the name of an object of type T, the given columns, and the age.
func New[T any](columns ...Column[T]) rest.TableConvertor { return convertor[T](columns) }

type convertor[T any] []Column[T]

// ConvertToTable implements rest.TableConvertor for an object or a list of them.
func (c convertor[T]) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		table.ColumnDefinitions = c.definitions()
	}
	add := func(item runtime.Object) error {
		row, err := c.row(item)
		if err == nil {
			table.Rows = append(table.Rows, row)
		}
		return err
	}
	if !meta.IsListType(object) {
		if m, err := meta.CommonAccessor(object); err == nil {
			table.ResourceVersion = m.GetResourceVersion()
		}
		return table, add(object)
	}
	if m, err := meta.ListAccessor(object); err == nil {
		table.ResourceVersion, table.Continue, table.RemainingItemCount = m.GetResourceVersion(), m.GetContinue(), m.GetRemainingItemCount()
	}
	return table, meta.EachListItem(object, add)
}

func (c convertor[T]) definitions() []metav1.TableColumnDefinition {
	definitions := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: "The object's name."}}
	for _, column := range c {
		definition := metav1.TableColumnDefinition{Name: column.Name, Type: column.Type, Description: column.Description}
		if column.Wide {
			definition.Priority = 1
		}
		definitions = append(definitions, definition)
	}
	return append(definitions, metav1.TableColumnDefinition{Name: "Age", Type: "string", Description: "The time since the object was created."})
}

func (c convertor[T]) row(item runtime.Object) (metav1.TableRow, error) {
	object, ok := item.(any).(*T)
	if !ok {
		return metav1.TableRow{}, fmt.Errorf("cannot print a %T", item)
	}
	m, err := meta.Accessor(item)
	if err != nil {
		return metav1.TableRow{}, err
	}
	cells := []any{m.GetName()}
	for _, column := range c {
		cells = append(cells, column.Cell(object))
	}
	age := "<unknown>"
	if created := m.GetCreationTimestamp(); !created.IsZero() {
		age = duration.HumanDuration(time.Since(created.Time))
	}
	return metav1.TableRow{Cells: append(cells, age), Object: runtime.RawExtension{Object: item}}, nil
}

// Conditions returns a cell that lists conditions, each with its status and reason.
func Conditions(conditions []metav1.Condition) string {
	cells := make([]string, len(conditions))
	for i, condition := range conditions {
		cells[i] = fmt.Sprintf("%s=%s (%s)", condition.Type, condition.Status, condition.Reason)
	}
	return strings.Join(cells, ", ")
}
