package subtree

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// headers returns the table with its columns if it is the watch's first, else without; and, if the caller wants no objects in
// rows, without those.
func (e *events) headers(table page) page {
	named := len(table.ColumnDefinitions) > 0 && string(table.ColumnDefinitions) != "null"
	if named {
		e.columns = table.ColumnDefinitions
	}
	table.ColumnDefinitions = json.RawMessage("null")
	if !e.headed && e.columns != nil {
		e.headed, table.ColumnDefinitions = true, e.columns
	}
	if e.q.reader.query.Get("includeObject") == string(metav1.IncludeNone) {
		for i, raw := range table.Rows {
			var r row
			if json.Unmarshal(raw, &r) == nil {
				r.Object = json.RawMessage("null")
				table.Rows[i], _ = json.Marshal(r)
			}
		}
	}
	return table
}

// learn keeps the columns of a table that is not told, for the first that is.
func (e *events) learn(f frame) {
	if e.columns == nil {
		e.columns = f.columns
	}
}

// columnsOf returns the columns that a table names, nil if it names none.
func columnsOf(object json.RawMessage) json.RawMessage {
	var table page
	if json.Unmarshal(object, &table) != nil || len(table.ColumnDefinitions) == 0 || string(table.ColumnDefinitions) == "null" {
		return nil
	}
	return table.ColumnDefinitions
}

// blank returns an object that says nothing but of which kind it is, in the form that the caller wants.
func (e *events) blank() identity {
	var id identity
	id.APIVersion, id.Kind = e.q.reader.kind.kind().ToAPIVersionAndKind()
	if e.q.reader.form.partial != "" || e.q.reader.form.table != "" && e.q.reader.query.Get("includeObject") != string(metav1.IncludeObject) {
		id.APIVersion, id.Kind = metav1.GroupName+"/v1", "PartialObjectMetadata"
		if e.q.reader.form.partial != "" {
			id.APIVersion = e.q.reader.form.partial
		}
	}
	return id
}

// row returns the row of an object of which nothing is known but its name.
func (e *events) row(id identity, columns json.RawMessage) json.RawMessage {
	var definitions []metav1.TableColumnDefinition
	if json.Unmarshal(columns, &definitions) != nil || len(definitions) == 0 {
		definitions = []metav1.TableColumnDefinition{{Format: "name"}}
	}
	r := row{Cells: make([]any, len(definitions))}
	for i, definition := range definitions {
		if definition.Format == "name" {
			r.Cells[i] = id.Metadata.Name
		}
	}
	r.Object, _ = json.Marshal(id) // of strings only
	raw, _ := json.Marshal(r)
	return raw
}

// bookmark tells the caller that all up to a revision has been told.
func (e *events) bookmark(resourceVersion string, annotations map[string]string) {
	id := e.blank()
	id.Metadata.ResourceVersion, id.Metadata.Annotations = resourceVersion, annotations
	if e.q.reader.form.table == "" {
		e.write(string(watch.Bookmark), id)
		return
	}
	table := page{
		Kind: "Table", APIVersion: e.q.reader.form.table, Metadata: metav1.ListMeta{ResourceVersion: resourceVersion},
		ColumnDefinitions: e.columns, Rows: []json.RawMessage{e.row(id, e.columns)},
	}
	e.write(string(watch.Bookmark), e.headers(table))
}
