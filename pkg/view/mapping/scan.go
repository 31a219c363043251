package mapping

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

var errMalformed = errors.New("malformed JSON")

// extent finds the end of one JSON value that arrives in pieces. It counts brackets and finds the ends of strings, and
// accepts everything that is valid JSON; what is between brackets is not validated.
type extent struct {
	depth            int
	text, escaped    bool
	scalar, complete bool
}

// feed returns how many bytes of the piece belong to the value.
func (e *extent) feed(b []byte) int {
	for i := 0; i < len(b); i++ {
		if e.text {
			if i += e.textIn(b[i:]); e.text {
				return len(b)
			}
			if e.depth == 0 {
				e.complete = true
				return i
			}
			i--
			continue
		}
		c := b[i]
		switch {
		case e.scalar:
			// A number or literal ends before what follows it.
			if c == ',' || c == '}' || c == ']' || isSpace(c) {
				e.complete = true
				return i
			}
		case c == '"':
			e.text = true
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			if e.depth--; e.depth <= 0 {
				e.complete = true
				return i + 1
			}
		case e.depth == 0 && !isSpace(c):
			e.scalar = true
		}
	}
	return len(b)
}

// textIn returns how many bytes of the piece belong to a string. At its end, text is false.
func (e *extent) textIn(b []byte) int {
	i := 0
	if e.escaped && len(b) > 0 {
		e.escaped, i = false, 1
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			e.text = false
			return i + 1
		case '\\':
			if i++; i == len(b) {
				e.escaped = true
			}
		}
	}
	return len(b)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// space returns the position of the next byte of b that is not white space.
func space(b []byte, from int) int {
	for from < len(b) && isSpace(b[from]) {
		from++
	}
	return from
}

// next returns the position after the value at a position of b.
func next(b []byte, from int) (int, error) {
	var e extent
	end := from + e.feed(b[from:])
	if !e.complete && !e.scalar || end == from {
		return 0, errMalformed
	}
	return end, nil
}

// member is a member of a JSON object: parts of its text.
type member struct {
	key                []byte // with quotes
	value              []byte
	keyStart, valueEnd int
	valueStart         int
	name               string
}

// isObject reports whether a value is an object.
func isObject(b []byte) bool {
	at := space(b, 0)
	return at < len(b) && b[at] == '{'
}

// membersOf yields the members of an object in their order, and last an error if it is malformed. Other values have no
// members. They are not collected, because a member can be much smaller than what it would need in memory.
func membersOf(b []byte) iter.Seq2[member, error] {
	return func(yield func(member, error) bool) {
		if !isObject(b) {
			return
		}
		for at := space(b, 0) + 1; ; {
			at = space(b, at)
			if at < len(b) && b[at] == '}' {
				return
			}
			if at < len(b) && b[at] == ',' {
				at++
				continue
			}
			m, err := memberAt(b, at)
			if !yield(m, err) || err != nil {
				return
			}
			at = m.valueEnd
		}
	}
}

// memberAt returns the member that begins at a position of b.
func memberAt(b []byte, at int) (member, error) {
	m := member{keyStart: at}
	if at == len(b) || b[at] != '"' {
		return m, errMalformed
	}
	at, err := next(b, at)
	if err != nil {
		return m, err
	}
	m.key = b[m.keyStart:at]
	if m.name, err = unquote(m.key); err != nil {
		return m, err
	}
	if at = space(b, at); at == len(b) || b[at] != ':' {
		return m, errMalformed
	}
	m.valueStart = space(b, at+1)
	if m.valueEnd, err = next(b, m.valueStart); err != nil {
		return m, err
	}
	m.value = b[m.valueStart:m.valueEnd]
	return m, nil
}

// MemberOf returns the value of a member of an object, nil if it has none of this name.
func MemberOf(b []byte, name string) []byte {
	for m, err := range membersOf(b) {
		if err == nil && m.name == name {
			return m.value
		}
	}
	return nil
}

// TextOf returns the text of a member of an object that is a string.
func TextOf(b []byte, name string) string {
	s, _ := stringOf(MemberOf(b, name))
	return s
}

// RewriteObject appends a JSON object to out. Rewrite appends the value of a member instead of the one that it has, or
// reports that the object does not keep the member. Other values are copied.
func RewriteObject(out, raw []byte, rewrite func(out []byte, name string, value []byte) (appended []byte, keep bool, err error)) ([]byte, error) {
	if !isObject(raw) {
		return append(out, raw...), nil
	}
	separator := byte('{')
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, err
		}
		appended, keep, err := rewrite(append(append(append(out, separator), m.key...), ':'), m.name, m.value)
		if err != nil {
			return nil, err
		}
		if keep {
			out, separator = appended, ','
		}
	}
	if separator == '{' {
		out = append(out, separator)
	}
	return append(out, '}'), nil
}

// RewriteList does so for an array and its elements.
func RewriteList(out, raw []byte, rewrite func(out []byte, index int, element []byte) (appended []byte, keep bool, err error)) ([]byte, error) {
	if at := space(raw, 0); at == len(raw) || raw[at] != '[' {
		return append(out, raw...), nil
	}
	separator, index := byte('['), 0
	err := eachElement(raw, func(start, end int) error {
		appended, keep, err := rewrite(append(out, separator), index, raw[start:end])
		if index++; keep && err == nil {
			out, separator = appended, ','
		}
		return err
	})
	if separator == '[' {
		out = append(out, separator)
	}
	return append(out, ']'), err
}

// maxMembers bounds the members of an object in a request: decoders need much more memory for small ones than their
// text has.
const maxMembers = 64 << 10

// tooManyMembers reports whether an object in valid JSON has more than maxMembers members.
func tooManyMembers(b []byte) bool {
	var counts []int // of what is around a position
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			text := extent{text: true}
			i += text.textIn(b[i+1:])
		case '{', '[':
			counts = append(counts, 0)
		case '}', ']':
			counts = counts[:len(counts)-1]
		case ':':
			if counts[len(counts)-1]++; counts[len(counts)-1] > maxMembers {
				return true
			}
		}
	}
	return false
}

// eachElement calls f with where each element of an array begins and ends. Other values have no elements.
func eachElement(b []byte, f func(start, end int) error) error {
	at := space(b, 0)
	if at == len(b) || b[at] != '[' {
		return nil
	}
	at++
	for {
		at = space(b, at)
		if at == len(b) {
			return errMalformed
		}
		switch b[at] {
		case ']':
			return nil
		case ',':
			at++
			continue
		}
		end, err := next(b, at)
		if err != nil {
			return err
		}
		if err := f(at, end); err != nil {
			return err
		}
		at = end
	}
}

// unquote returns the text of a JSON string.
func unquote(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errMalformed
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", errMalformed
	}
	return s, nil
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(out []byte, s string) []byte {
	const short = "\b\f\n\r\t"
	out = append(out, '"')
	for i := range len(s) {
		c := s[i]
		switch at := strings.IndexByte(short, c); {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case at >= 0:
			out = append(out, '\\', "bfnrt"[at])
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// appendText appends the JSON string of a text that may have changed.
func appendText(out, raw []byte, before, after string) []byte {
	if before == after {
		return append(out, raw...)
	}
	return appendQuoted(out, after)
}

// stringOf returns the text of a value that is a string; ok is false for any other.
func stringOf(raw []byte) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	s, err := unquote(raw)
	return s, err == nil
}
