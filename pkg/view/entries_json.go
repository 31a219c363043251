package view

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
)

// change returns an entry of a member and its name as they are copied, nil for an entry that is left out.
type change func(member, name string, entry []byte) (string, []byte, error)

// copyJSON copies a document in JSON with changed entries, of which one is in memory at a time.
func copyJSON(from io.Reader, to io.Writer, change change) error {
	return copyBounded(from, to, func(int) error { return nil }, change)
}

// copyBounded is copyJSON. Before it reads on, it calls hold with the bytes that are in memory of an entry.
func copyBounded(from io.Reader, to io.Writer, hold func(entry int) error, change change) error {
	bounded := &boundedReader{from: from, hold: hold}
	c := &jsonCopy{in: json.NewDecoder(bounded), to: to, change: change}
	bounded.done = c.in.InputOffset
	err := c.value("")
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// boundedReader counts what a decoder has read and not decoded yet.
type boundedReader struct {
	from io.Reader
	read int64
	done func() int64
	hold func(entry int) error
}

// Read implements io.Reader.
func (r *boundedReader) Read(part []byte) (int, error) {
	if err := r.hold(int(r.read - r.done())); err != nil {
		return 0, err
	}
	n, err := r.from.Read(part)
	r.read += int64(n)
	return n, err
}

type jsonCopy struct {
	in     *json.Decoder
	to     io.Writer
	change change
	entry  json.RawMessage // the last one
}

var ends = map[json.Delim]byte{'{': '}', '[': ']'}

// value copies the value of a member: "" is the document, which has members as its components have, and others have
// entries.
func (c *jsonCopy) value(member string) error {
	first, err := c.in.Token()
	if err != nil {
		return err
	}
	begin, ok := first.(json.Delim)
	if !ok {
		return json.NewEncoder(c.to).Encode(first)
	}
	if err := c.write([]byte(begin.String())); err != nil {
		return err
	}
	for separator := ""; c.in.More(); {
		name := ""
		if begin == '{' {
			token, err := c.in.Token()
			if err != nil {
				return err
			}
			name, _ = token.(string)
		}
		copied, err := c.child(separator, begin, member, name)
		if err != nil {
			return err
		}
		if copied {
			separator = ","
		}
	}
	if _, err := c.in.Token(); err != nil {
		return err
	}
	return c.write([]byte{ends[begin]})
}

// child copies a member or an entry after a separator, unless it is left out.
func (c *jsonCopy) child(separator string, of json.Delim, member, name string) (copied bool, err error) {
	if member == "" || member == "components" {
		if members[name] != nil || name == "components" {
			if err := c.begin(separator, of, name); err != nil {
				return false, err
			}
			return true, c.value(name)
		}
	}
	if err := c.in.Decode(&c.entry); err != nil {
		return false, err
	}
	entry := []byte(c.entry)
	if members[member] != nil {
		if of == '[' {
			name = nameOf(entry)
		}
		if name, entry, err = c.change(member, name, entry); err != nil || entry == nil {
			return false, err
		}
	}
	if err := c.begin(separator, of, name); err != nil {
		return false, err
	}
	return true, c.write(entry)
}

// begin writes what precedes a value.
func (c *jsonCopy) begin(separator string, of json.Delim, name string) error {
	head := []byte(separator)
	if of == '{' {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		head = append(append(head, key...), ':')
	}
	return c.write(head)
}

func (c *jsonCopy) write(part []byte) error {
	_, err := c.to.Write(part)
	return err
}

// nameOf returns the name of a group in the lists of discovery.
func nameOf(entry []byte) string {
	var group struct {
		Name     string `json:"name"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(entry, &group) // paths have no name
	return cmp.Or(group.Name, group.Metadata.Name)
}
