package rbac

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// errHidden is returned for an object that the resource of the view does not contain.
var errHidden = errors.New("not shown")

// convert appends a converted object, which may be a Status or a Table. It decodes nothing that grows with the object:
// decoded rules, subjects or labels take many times the size of their text.
func (c *conversion) convert(out, raw []byte) ([]byte, error) {
	out = slices.Grow(out, len(raw))
	switch mapping.TextOf(raw, "kind") {
	case "Status":
		return c.status(out, raw)
	case "Table":
		return c.table(out, raw)
	}
	return c.out(out, raw)
}

// table appends a converted Table, whose rows have objects.
func (c *conversion) table(out, raw []byte) ([]byte, error) {
	rows, kept := 0, 0
	out, err := mapping.RewriteObject(out, raw, func(out []byte, name string, value []byte) ([]byte, bool, error) {
		if name != "rows" {
			return append(out, value...), true, nil
		}
		out, err := mapping.RewriteList(out, value, func(out []byte, _ int, row []byte) ([]byte, bool, error) {
			rows++
			out, err := c.row(out, row)
			if errors.Is(err, errHidden) {
				return nil, false, nil
			}
			kept++
			return out, true, err
		})
		return out, true, err
	})
	if err == nil && rows > 0 && kept == 0 {
		err = errHidden
	}
	return out, err
}

// row appends the converted row of a Table, which has the metadata of its object. The first column of these kinds is the
// name, and the second one of bindings is "Role/<name>" or "ClusterRole/<name>".
func (c *conversion) row(out, raw []byte) ([]byte, error) {
	o := mapping.MemberOf(raw, "object")
	name, shown := c.name(mapping.MemberOf(o, "metadata"))
	if o == nil || !shown {
		return nil, errHidden
	}
	return mapping.RewriteObject(out, raw, func(out []byte, member string, value []byte) (_ []byte, _ bool, err error) {
		switch member {
		case "object":
			out, err = c.out(out, value)
		case "cells":
			out, err = mapping.RewriteList(out, value, func(out []byte, index int, cell []byte) ([]byte, bool, error) {
				switch {
				case index == 0 && name != "":
					return appendJSON(out, name)
				case index == 1 && c.bindings:
					var role string
					if json.Unmarshal(cell, &role) != nil {
						break
					}
					if kind, name, ok := strings.Cut(role, "/"); ok {
						kind, name = c.names.roleOut(kind, name)
						return appendJSON(out, kind+"/"+name)
					}
				}
				return append(out, cell...), true, nil //nolint:nilerr // Another text is shown as it is.
			})
		default:
			out = append(out, value...)
		}
		return out, true, err
	})
}

// appendJSON appends a value that the object keeps.
func appendJSON(out []byte, value any) ([]byte, bool, error) {
	encoded, err := json.Marshal(value)
	return append(out, encoded...), true, err
}

// watch converts a stream of watch events.
func (c *conversion) watch(r *metered, w io.Writer) error {
	decoder := json.NewDecoder(r)
	for {
		if r.release() {
			decoder = continued(decoder, r, "")
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
		line, _, err := appendJSON([]byte(`{"type":`), event.Type)
		if err != nil {
			return err
		}
		line, err = c.convert(append(line, `,"object":`...), event.Object)
		if errors.Is(err, errHidden) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, "}\n"...)); err != nil {
			return err
		}
	}
}

// list converts a list or a Table. Items and rows are converted one by one.
func (c *conversion) list(r *metered, w io.Writer) error {
	decoder := json.NewDecoder(r)
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
			decoder, err = c.items(decoder, r, w, name == "rows")
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

// items converts the items of a list, or the rows of a Table. It returns the decoder of what follows.
func (c *conversion) items(decoder *json.Decoder, r *metered, w io.Writer, rows bool) (*json.Decoder, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	if token == nil {
		_, err := io.WriteString(w, "null")
		return decoder, err
	}
	separator := []byte{'['}
	convert := c.out
	if rows {
		convert = c.row
	}
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, err
		}
		item, err := convert(separator, raw)
		switch {
		case err == nil:
			if _, err := w.Write(item); err != nil {
				return nil, err
			}
			separator = []byte{','}
		case !errors.Is(err, errHidden):
			return nil, err
		}
		if r.release() {
			decoder = continued(decoder, r, `{"":[[]`) // after an item
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	_, err = w.Write(append(bytes.TrimPrefix(separator, []byte{','}), ']'))
	return decoder, err
}

// continued returns a decoder of what follows, without the buffer of the last one, which is as large as the largest value
// so far. The tokens of before put it where the last one is.
func continued(last *json.Decoder, r *metered, before string) *json.Decoder {
	ahead, _ := io.ReadAll(last.Buffered()) // from memory, and little: see metered
	decoder := json.NewDecoder(io.MultiReader(strings.NewReader(before), bytes.NewReader(ahead), r))
	for decoder.InputOffset() < int64(len(before)) {
		_, _ = decoder.Token()
	}
	return decoder
}

// metered reads a response, and counts what is read of one object.
type metered struct {
	io.Reader
	// reserve counts bytes that are kept in memory.
	reserve func(bytes int64) (release func(), err error)
	// copies is how many times the size of what is read is counted.
	copies   int64
	read     int64
	reserved []func()
}

// Uncounted is how many bytes of an object are not counted.
const Uncounted = 64 << 10

// Buffers, the text of an object and what is made of it have together up to so many times the size of the text: an
// object that is read as a whole, and any other, because buffers of decoders and encoders have up to twice the size.
const copiesOfWhole, copies = 3, 5

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p[:min(len(p), Uncounted)]) // What is read ahead of the next object is not counted.
	if m.read += int64(n); m.read > Uncounted {
		release, failed := m.reserve(m.read * m.copies)
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
