package rbac

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// errHidden is returned for an object that the resource of the view does not contain.
var errHidden = errors.New("not shown")

// convert converts one object, which may be a Status or a Table.
func (c *conversion) convert(raw []byte) ([]byte, error) {
	var o object
	if err := utiljson.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	switch text(o, "kind") {
	case "Status":
		c.status(o)
	case "Table":
		rows, _ := o["rows"].([]any)
		kept := make([]any, 0, len(rows))
		for _, row := range rows {
			if row, ok := row.(object); ok && c.row(row) {
				kept = append(kept, row)
			}
		}
		if o["rows"] = kept; len(kept) == 0 && len(rows) > 0 {
			return nil, errHidden
		}
	default:
		if !c.out(o) {
			return nil, errHidden
		}
	}
	return json.Marshal(o)
}

// row converts the row of a Table, which has the metadata of its object; shown is false if the resource does not
// contain that. The first column of these kinds is the name, and the second one of bindings is "Role/<name>" or
// "ClusterRole/<name>".
func (c *conversion) row(row object) (shown bool) {
	cells, _ := row["cells"].([]any)
	if len(cells) == 0 {
		return false
	}
	o := child(row, "object")
	if o == nil || !c.out(o) {
		return false
	}
	if name := text(child(o, "metadata"), "name"); name != "" {
		cells[0] = name
	}
	if c.bindings && len(cells) > 1 {
		role, _ := cells[1].(string)
		if kind, name, ok := strings.Cut(role, "/"); ok {
			kind, name = c.names.roleOut(kind, name)
			cells[1] = kind + "/" + name
		}
	}
	return true
}

// watch converts a stream of watch events.
func (c *conversion) watch(r *metered, w io.Writer) error {
	decoder := json.NewDecoder(r)
	for {
		if r.release() {
			// The buffer of the last event is not kept.
			decoder = json.NewDecoder(io.MultiReader(decoder.Buffered(), r))
		}
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := decoder.Decode(&event); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		converted, err := c.convert(event.Object)
		if errors.Is(err, errHidden) {
			continue
		}
		if err != nil {
			return err
		}
		event.Object = converted
		line, err := json.Marshal(event)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
}

// list converts a list or a Table. Items and rows are converted one by one.
func (c *conversion) list(r *metered, w io.Writer) error {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.Join(err, errors.New("the response is not an object"))
	}
	separator := []byte{'{'}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(append(separator, key...), ':')); err != nil {
			return err
		}
		separator = []byte{','}
		if name == "items" || name == "rows" {
			err = c.items(decoder, r, w, name == "rows")
		} else {
			err = c.field(decoder, w, name)
		}
		if err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return err
	}
	_, err := w.Write(append(bytes.TrimPrefix(separator, []byte{','}), '}', '\n'))
	return err
}

// field converts one field of a list, except its items.
func (c *conversion) field(decoder *json.Decoder, w io.Writer, name string) error {
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	if name == "kind" && c.cluster && string(value) == `"`+c.stored+`List"` {
		value = json.RawMessage(`"` + c.shown + `List"`)
	}
	_, err := w.Write(value)
	return err
}

// items converts the items of a list, or the rows of a Table.
func (c *conversion) items(decoder *json.Decoder, r *metered, w io.Writer, rows bool) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	if token == nil {
		_, err := io.WriteString(w, "null")
		return err
	}
	separator := []byte{'['}
	for decoder.More() {
		var o object
		if err := decoder.Decode(&o); err != nil {
			return err
		}
		if rows && !c.row(o) || !rows && !c.out(o) {
			r.release()
			continue
		}
		item, err := json.Marshal(o)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(separator, item...)); err != nil {
			return err
		}
		separator = []byte{','}
		r.release()
	}
	if _, err := decoder.Token(); err != nil {
		return err
	}
	_, err = w.Write(append(bytes.TrimPrefix(separator, []byte{','}), ']'))
	return err
}

// metered reads a response, and counts what is read of one object.
type metered struct {
	io.Reader
	// reserve counts bytes that are kept in memory.
	reserve  func(bytes int64) (release func(), err error)
	read     int64
	reserved []func()
}

// Objects of up to uncounted bytes are not counted. Of others, decoded maps and what is made of them have several times
// the size of the text.
const uncounted, decodedSize = 64 << 10, 8

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.read += int64(n); m.read > uncounted {
		release, failed := m.reserve(m.read * decodedSize)
		if failed != nil {
			return n, failed
		}
		m.reserved, m.read = append(m.reserved, release), 0
	}
	return n, err
}

// release ends an object, and reports whether it was counted.
func (m *metered) release() bool {
	large := len(m.reserved) > 0
	for _, release := range m.reserved {
		release()
	}
	m.reserved, m.read = nil, 0
	return large
}
