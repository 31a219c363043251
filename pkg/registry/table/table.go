// Package table prints objects as the rows of a Table, for kubectl get.
//
// The generic API server prints name and age only (rest.NewDefaultTableConvertor), and the convertors of kube-apiserver
// and of custom resources are not libraries. This package adds typed columns to apimachinery's rows of name and age.
package table

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Column is a column for objects of type T.
type Column[T any] struct {
	// Name is the heading.
	Name string
	// Type is the OpenAPI type.
	Type string
	// Wide columns are printed with -o wide only.
	Wide bool
	// Description describes the cells.
	Description string
	// Cell returns the cell of an object.
	Cell func(*T) any
}

// New returns a convertor that prints the name of an object of type T, the columns, and the age.
func New[T any](columns ...Column[T]) rest.TableConvertor { return convertor[T](columns) }

type convertor[T any] []Column[T]

// ConvertToTable implements rest.TableConvertor for an object or a list of them.
func (c convertor[T]) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		table.ColumnDefinitions = c.definitions()
	}
	if m, err := meta.ListAccessor(object); err == nil {
		table.ResourceVersion, table.Continue, table.RemainingItemCount = m.GetResourceVersion(), m.GetContinue(), m.GetRemainingItemCount()
	} else if m, err := meta.CommonAccessor(object); err == nil {
		table.ResourceVersion = m.GetResourceVersion()
	}
	var err error
	table.Rows, err = metatable.MetaToTableRow(object, c.cells)
	return table, err
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

func (c convertor[T]) cells(item runtime.Object, _ metav1.Object, name, age string) ([]any, error) {
	object, ok := item.(any).(*T)
	if !ok {
		return nil, fmt.Errorf("cannot print a %T", item)
	}
	cells := []any{name}
	for _, column := range c {
		cells = append(cells, column.Cell(object))
	}
	return append(cells, age), nil
}

// Conditions returns a cell that lists conditions, each with its status and reason.
func Conditions(conditions []metav1.Condition) string {
	cells := make([]string, len(conditions))
	for i, condition := range conditions {
		cells[i] = fmt.Sprintf("%s=%s (%s)", condition.Type, condition.Status, condition.Reason)
	}
	return strings.Join(cells, ", ")
}
