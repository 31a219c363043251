package subtree

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// writeTable writes an event with a table: with columns if it is the first of the watch, and without the objects of the
// rows if the caller wants none.
func (e *eventWriter) writeTable(eventType string, table page) {
	named := len(table.ColumnDefinitions) > 0 && string(table.ColumnDefinitions) != "null"
	if named {
		e.columns = table.ColumnDefinitions
	}
	table.ColumnDefinitions = json.RawMessage("null")
	if !e.columnsSent && e.columns != nil {
		e.columnsSent, table.ColumnDefinitions = true, e.columns
	}
	if e.request.reader.query.Get("includeObject") == string(metav1.IncludeNone) {
		for i, raw := range table.Rows {
			var r row
			if err := json.Unmarshal(raw, &r); err != nil {
				e.lose(err)
				return
			}
			r.Object = json.RawMessage("null")
			table.Rows[i], _ = json.Marshal(r) // what was decoded can be encoded
		}
	}
	e.writeEvent(eventType, table)
}

// rememberColumns keeps the columns of a table that is not sent, for the first that is.
func (e *eventWriter) rememberColumns(f rawEvent) {
	if e.columns == nil {
		e.columns = f.columns
	}
}

// columnsOf returns the columns of a table, nil if it has none.
func columnsOf(object json.RawMessage) json.RawMessage {
	var table page
	if json.Unmarshal(object, &table) != nil || len(table.ColumnDefinitions) == 0 || string(table.ColumnDefinitions) == "null" {
		return nil
	}
	return table.ColumnDefinitions
}

// emptyObject returns an object without metadata, with the kind of the caller's output type.
func (e *eventWriter) emptyObject() identity {
	var id identity
	id.APIVersion, id.Kind = e.request.reader.kind.gvk().ToAPIVersionAndKind()
	if e.request.reader.output.partialMetadata != "" || e.request.reader.output.table != "" && e.request.reader.query.Get("includeObject") != string(metav1.IncludeObject) {
		id.APIVersion, id.Kind = metav1.GroupName+"/v1", "PartialObjectMetadata"
		if e.request.reader.output.partialMetadata != "" {
			id.APIVersion = e.request.reader.output.partialMetadata
		}
	}
	return id
}

// nameRow returns a row that contains nothing but the object's name.
func (e *eventWriter) nameRow(id identity, columns json.RawMessage) json.RawMessage {
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
	r.Object, _ = json.Marshal(id) // strings always marshal
	raw, _ := json.Marshal(r)
	return raw
}

// writeBookmark sends a bookmark: all events up to the revision have been sent.
func (e *eventWriter) writeBookmark(resourceVersion string, annotations map[string]string) {
	id := e.emptyObject()
	id.Metadata.ResourceVersion, id.Metadata.Annotations = resourceVersion, annotations
	if e.request.reader.output.table == "" {
		e.writeEvent(string(watch.Bookmark), id)
		return
	}
	table := page{
		Kind: "Table", APIVersion: e.request.reader.output.table, Metadata: metav1.ListMeta{ResourceVersion: resourceVersion},
		ColumnDefinitions: e.columns, Rows: []json.RawMessage{e.nameRow(id, e.columns)},
	}
	e.writeTable(string(watch.Bookmark), table)
}
