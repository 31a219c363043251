package subtree

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// page is a list, a table, or a part of one.
type page struct {
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Metadata   metav1.ListMeta `json:"metadata"`
	// ColumnDefinitions and Rows are set in tables.
	ColumnDefinitions json.RawMessage `json:"columnDefinitions,omitempty"`
	// An empty slice is encoded, a nil slice is not.
	Rows  []json.RawMessage `json:"rows,omitzero"`
	Items []json.RawMessage `json:"items,omitzero"`
}

func (p *page) len() int { return len(p.Rows) + len(p.Items) }

// removeItems removes all objects from a page.
func (p *page) removeItems() {
	p.Metadata = metav1.ListMeta{ResourceVersion: p.Metadata.ResourceVersion}
	if p.ColumnDefinitions != nil || p.Rows != nil {
		p.Rows = []json.RawMessage{}
		return
	}
	p.Items = []json.RawMessage{}
}

// identity is the identifying metadata of an object. Keys of objects that differ in case are no metadata.
type identity struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name              string            `json:"name,omitempty"`
		Namespace         string            `json:"namespace,omitempty"`
		UID               string            `json:"uid,omitempty"`
		ResourceVersion   string            `json:"resourceVersion,omitempty"`
		CreationTimestamp *string           `json:"creationTimestamp"`
		Annotations       map[string]string `json:"annotations,omitempty"`
	} `json:"metadata"`
}

// row is a row of a table.
type row struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object,omitempty"`
}

// objects returns the objects of a list as watch events contain them: each with its kind, and each row as a table of
// its own.
func (p *page) objects() ([]json.RawMessage, error) {
	objects := make([]json.RawMessage, 0, p.len())
	for _, row := range p.Rows {
		object, err := json.Marshal(p.tableOf(row))
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	for _, item := range p.Items {
		var id identity
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, &id); err != nil {
			return nil, err
		}
		if id.Kind == "" {
			prefix := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, strings.TrimSuffix(p.Kind, "List"), p.APIVersion)
			item = append(json.RawMessage(prefix), item[1:]...)
		}
		objects = append(objects, item)
	}
	return objects, nil
}

func (p *page) tableOf(row json.RawMessage) page {
	return page{
		Kind: p.Kind, APIVersion: p.APIVersion, Metadata: metav1.ListMeta{ResourceVersion: p.Metadata.ResourceVersion},
		ColumnDefinitions: p.ColumnDefinitions, Rows: []json.RawMessage{row},
	}
}
