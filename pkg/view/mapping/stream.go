package mapping

import (
	"bytes"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Response translates the body of a response to the view: an object, a Status, a Table, or, if the request was for a
// list, a list. Items and rows are translated one by one; nothing else of a list is kept in memory. After an error, the
// response is incomplete: the connection must be closed.
func (m *Mapper) Response(kind schema.GroupVersionKind, list bool, r io.Reader, w io.Writer) error {
	if !m.names.relative {
		_, err := io.Copy(w, r)
		return err
	}
	t := m.translation(Out)
	s := m.source(r, ofList)
	defer s.close()
	c, err := s.peek()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if c != '{' {
		return t.rest(s, w)
	}
	return t.streamed(s, w, kind, list)
}

// rest translates one value that is not an object.
func (t *translation) rest(s *source, w io.Writer) error {
	value, err := s.value()
	if err != nil {
		return err
	}
	_, err = w.Write(value)
	return err
}

// streamed translates an object. Members before the items are kept until it is known what they belong to.
func (t *translation) streamed(s *source, w io.Writer, kind schema.GroupVersionKind, list bool) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	head := []byte{'{'}
	var stated, version string
	for {
		c, err := s.peek()
		if err != nil {
			return unexpectedEOF(err)
		}
		if c == '}' {
			// There were no items.
			s.start++
			if err := s.keep(2 * len(head)); err != nil {
				return err
			}
			out, err := t.top(nil, append(head, '}'), kind)
			if err != nil {
				return err
			}
			_, err = w.Write(append(out, '\n'))
			return err
		}
		name, err := s.key(&head)
		if err != nil {
			return err
		}
		if c, err = s.peek(); err != nil {
			return unexpectedEOF(err)
		}
		if c == '[' && (name == "items" && list || name == "rows" && isTable(stated, version)) {
			return t.items(s, w, head, name, kind)
		}
		value, err := s.value()
		if err != nil {
			return unexpectedEOF(err)
		}
		switch name {
		case "kind":
			stated, _ = stringOf(value)
		case "apiVersion":
			version, _ = stringOf(value)
		}
		if head = append(head, value...); len(head) > maxObject {
			return tooLarge(maxObject)
		}
		if err := s.keep(len(head)); err != nil {
			return err
		}
	}
}

// key consumes a key and its colon, after the comma before it if there is one, and appends them. It returns the name.
func (s *source) key(out *[]byte) (string, error) {
	if c, err := s.peek(); err == nil && c == ',' {
		s.start++
		*out = append(*out, ',')
	}
	raw, err := s.value()
	if err != nil {
		return "", unexpectedEOF(err)
	}
	name, err := unquote(raw)
	if err != nil {
		return "", err
	}
	*out = append(append(*out, raw...), ':')
	return name, s.expect(':')
}

// items translates a list from its items or rows on. Head is what comes before them, without the end.
func (t *translation) items(s *source, w io.Writer, head []byte, name string, kind schema.GroupVersionKind) error {
	each := func(out, raw []byte) ([]byte, error) { return t.top(out, raw, kind) }
	if name == "rows" {
		cells := cellsOf(MemberOf(append(bytes.Clone(head), "null}"...), "columnDefinitions"), kind)
		each = func(out, raw []byte) ([]byte, error) { return t.row(out, raw, cells, kind) }
	}
	head, err := t.head(head, kind)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	if err := s.expect('['); err != nil {
		return err
	}
	out, separator := []byte{}, byte('[')
	for first := true; ; first = false {
		c, err := s.peek()
		if err != nil {
			return unexpectedEOF(err)
		}
		if c == ']' {
			break
		}
		if !first {
			if err := s.expect(','); err != nil {
				return err
			}
		}
		if _, err := s.peek(); err != nil {
			return unexpectedEOF(err)
		}
		value, err := s.value()
		if err != nil {
			return unexpectedEOF(err)
		}
		item, err := each(append(out[:0], separator), value)
		if errors.Is(err, errShadowed) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(item); err != nil {
			return err
		}
		out, separator = s.sizes.reused(item), ','
	}
	if separator == '[' {
		if _, err := w.Write([]byte{'['}); err != nil {
			return err
		}
	}
	return t.tail(s, w, kind)
}

// head translates what precedes the items of a list.
func (t *translation) head(head []byte, kind schema.GroupVersionKind) ([]byte, error) {
	const value = "null}"
	translated, err := t.members(nil, append(bytes.Clone(head), value...), headOf(kind), nil)
	return bytes.TrimSuffix(translated, []byte(value)), err
}

// headOf returns the rules for the members of a list besides its items.
func headOf(kind schema.GroupVersionKind) *node {
	if kind.GroupKind() == Definition.GroupKind() {
		return definitionHeadNode
	}
	return headNode
}

// tail copies what follows the items: the end of the list, and the rest of its members.
func (t *translation) tail(s *source, w io.Writer, kind schema.GroupVersionKind) error {
	if err := s.expect(']'); err != nil {
		return err
	}
	out := []byte{']'}
	for {
		c, err := s.peek()
		if err != nil {
			return unexpectedEOF(err)
		}
		if c == '}' {
			s.start++
			_, err := w.Write(append(out, '}', '\n'))
			return err
		}
		name, err := s.key(&out)
		if err != nil {
			return err
		}
		value, err := s.value()
		if err != nil {
			return unexpectedEOF(err)
		}
		if out, err = t.value(out, value, headOf(kind).fields[name], nil); err != nil {
			return err
		}
	}
}

// Watch translates a stream of watch events, each of which it writes at once. It returns nil at the end of the stream.
func (m *Mapper) Watch(kind schema.GroupVersionKind, r io.Reader, w io.Writer) error {
	s := m.source(r, ofWatch)
	defer s.close()
	t := m.translation(Out)
	var out []byte
	for {
		if _, err := s.peek(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		event, err := s.value()
		if err != nil {
			return unexpectedEOF(err)
		}
		translated, err := t.event(out[:0], event, kind)
		if errors.Is(err, errShadowed) {
			continue
		}
		if err != nil {
			return err
		}
		translated = append(translated, '\n')
		if _, err := w.Write(translated); err != nil {
			return err
		}
		out = s.sizes.reused(translated)
	}
}

// reused returns the memory of a translation that is written for the next one, unless it is too large to be kept.
func (s sizes) reused(out []byte) []byte {
	if cap(out) > s.kept {
		return nil
	}
	return out
}

// event appends a translated watch event. The error is errShadowed if the view does not show its object.
func (t *translation) event(out, raw []byte, kind schema.GroupVersionKind) ([]byte, error) {
	if !t.names.relative {
		return append(out, raw...), nil
	}
	return RewriteObject(out, raw, func(out []byte, name string, value []byte) (_ []byte, keep bool, err error) {
		switch {
		case name != "object":
			out = append(out, value...)
		case isTable(TextOf(value, "kind"), TextOf(value, "apiVersion")):
			out, err = t.table(out, value, kind)
		default:
			out, err = t.top(out, value, kind)
		}
		return out, true, err
	})
}
