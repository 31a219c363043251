package mapping

import (
	"bytes"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// protobufPrefix begins everything in Kubernetes' protobuf encoding; a runtime.Unknown follows.
const protobufPrefix = "k8s\x00"

// The fields of runtime.Unknown and of its type.
const (
	unknownType     protowire.Number = 1
	unknownRaw      protowire.Number = 2
	unknownEncoding protowire.Number = 3
	typeVersion     protowire.Number = 1
	typeKind        protowire.Number = 2
	entryKey        protowire.Number = 1
	entryValue      protowire.Number = 2
)

// Protobuf translates an object in Kubernetes' protobuf encoding, of which kind is the default. Messages without
// references are copied as bytes. Of kinds that are not known, the encoding is not known either: they are refused with
// 415.
func (m *Mapper) Protobuf(to Direction, kind schema.GroupVersionKind, body []byte) ([]byte, error) {
	if !m.names.relative {
		return body, nil
	}
	if !bytes.HasPrefix(body, []byte(protobufPrefix)) {
		return nil, badRequest(nil, "the body is not an object in protobuf")
	}
	t := m.translation(to)
	if to == In {
		t = m.ofRequest(len(body))
	}
	envelope := fieldsOf(body[len(protobufPrefix):], nil)
	var statedKind, version string
	seen := map[protowire.Number]bool{}
	for f, err := range envelope {
		if err != nil {
			return nil, err
		}
		if f.number > 4 {
			continue
		}
		if f.kind != protowire.BytesType || seen[f.number] {
			return nil, badRequest(nil, "malformed protobuf: field %d of the envelope", f.number)
		}
		seen[f.number] = true
		switch {
		case f.number == unknownEncoding && len(f.value) > 0:
			return nil, unsupported("the content encoding %q is not supported in a view; send the object as it is", f.value)
		case f.number == unknownType:
			if statedKind, version, err = statedType(f.value); err != nil {
				return nil, err
			}
		}
	}
	kind, err := t.root(statedKind, version, kind)
	if err != nil {
		return nil, err
	}
	n := m.kinds.of(kind)
	if !n.wire {
		return nil, unsupported("%s is not supported in a view as protobuf; use JSON", kind.Kind)
	}
	out := append(make([]byte, 0, len(body)+256), protobufPrefix...)
	for f, err := range envelope {
		if err != nil {
			return nil, err
		}
		if f.number != unknownRaw {
			out = append(out, f.raw...)
			continue
		}
		out, err = f.appendWith(out, func(out []byte) ([]byte, bool, error) {
			out, err := t.wireMessage(out, f.value, n.node, nil, 0)
			return out, true, err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, t.fits(len(out))
}

// statedType returns the kind and version of an envelope.
func statedType(message []byte) (kind, version string, err error) {
	stated := map[protowire.Number]string{}
	for f, err := range fieldsOf(message, nil) {
		if err != nil {
			return "", "", err
		}
		if f.number != typeVersion && f.number != typeKind {
			continue
		}
		if _, ok := stated[f.number]; ok || f.kind != protowire.BytesType {
			return "", "", badRequest(nil, "malformed protobuf: field %d of the type", f.number)
		}
		stated[f.number] = string(f.value)
	}
	return stated[typeKind], stated[typeVersion], nil
}

// wireBytes is a field of a message: raw is all of it, value the content if the kind is BytesType.
type wireBytes struct {
	number     protowire.Number
	kind       protowire.Type
	raw, value []byte
}

// appendWith appends a field whose value is what a function appends, or the field as it is if that is the same. If keep
// is false, it appends nothing.
func (f wireBytes) appendWith(out []byte, value func(out []byte) (with []byte, keep bool, err error)) ([]byte, error) {
	begin := len(out)
	out = protowire.AppendTag(out, f.number, protowire.BytesType)
	start := len(out)
	out, keep, err := value(out)
	if err != nil {
		return nil, err
	}
	if !keep {
		return out[:begin], nil
	}
	length := len(out) - start
	prefix := uint64(length) //nolint:gosec // not negative
	if bytes.Equal(out[start:], f.value) {
		return append(out[:begin], f.raw...), nil
	}
	// The length precedes the value.
	out = protowire.AppendVarint(out, prefix)
	moved := len(out) - start - length
	copy(out[start+moved:], out[start:start+length])
	protowire.AppendVarint(out[:start], prefix)
	return out, nil
}

// maxWireFields bounds the fields of one message, which can have two bytes each and take decoders much more memory.
const maxWireFields = 64 << 10

// fieldsOf yields the fields of a message, which may be malformed in any way, and last an error if it is. They are not
// collected, because a field can be much smaller than what it would need in memory.
func fieldsOf(message []byte, at *path) iter.Seq2[wireBytes, error] {
	return func(yield func(wireBytes, error) bool) {
		rest := message
		for count := 0; len(rest) > 0; count++ {
			if count == maxWireFields {
				yield(wireBytes{}, badRequest(at, "a message in protobuf may have at most %d fields in a view; use JSON", maxWireFields))
				return
			}
			number, kind, tag := protowire.ConsumeTag(rest)
			if tag < 0 {
				yield(wireBytes{}, badRequest(at, "malformed protobuf: %v", protowire.ParseError(tag)))
				return
			}
			length := protowire.ConsumeFieldValue(number, kind, rest[tag:])
			if length < 0 {
				yield(wireBytes{}, badRequest(at, "malformed protobuf: %v", protowire.ParseError(length)))
				return
			}
			f := wireBytes{number: number, kind: kind, raw: rest[:tag+length]}
			if kind == protowire.BytesType {
				f.value, _ = protowire.ConsumeBytes(rest[tag:])
			}
			if !yield(f, nil) {
				return
			}
			rest = rest[tag+length:]
		}
	}
}

// wire appends a translated value of BytesType; keep is false if the view does not have it.
func (t *translation) wire(out, raw []byte, n *node, at *path, depth int) (with []byte, keep bool, err error) {
	switch {
	case depth > maxDepth:
		return nil, false, tooDeep(maxDepth)
	case n.text != nil:
		return append(out, n.text(t, string(raw))...), true, nil
	case n.pairs != nil:
		return t.wireEntry(out, raw, n.pairs, at)
	case n.managed && n.wire == nil:
		out, err = t.wireManaged(out, raw, n, at)
	default:
		out, err = t.wireMessage(out, raw, n, at, depth)
	}
	return out, true, err
}

// wireManaged appends the translated JSON in a FieldsV1.
func (t *translation) wireManaged(out, raw []byte, n *node, at *path) ([]byte, error) {
	if len(raw) == 0 {
		return out, nil
	}
	if err := CheckJSON(raw, maxDepth); err != nil {
		return nil, err
	}
	return t.managed(out, raw, n.fields[""], at)
}

// wireMessage appends a translated message.
func (t *translation) wireMessage(out, raw []byte, n *node, at *path, depth int) ([]byte, error) {
	if err := checkWire(raw, n, at); err != nil {
		return nil, err
	}
	dropped, added := -1, []byte(nil)
	if n.selector {
		var err error
		if dropped, added, err = t.wireSelector(raw, n, at); err != nil {
			return nil, err
		}
	}
	n = n.object(func(name string) string {
		for f, err := range fieldsOf(raw, at) {
			if err == nil && n.wire[f.number].name == name {
				return string(f.value)
			}
		}
		return ""
	})
	index, position := 0, -1
	for f, err := range fieldsOf(raw, at) {
		if err != nil {
			return nil, err
		}
		if position++; position == dropped {
			continue
		}
		field := n.wire[f.number]
		if field.node == nil {
			out = append(out, f.raw...)
			continue
		}
		child, to := field.node, at.key(field.name)
		if field.repeated && child.items != nil {
			child, to = child.items, to.at(index)
			index++
		}
		out, err = f.appendWith(out, func(out []byte) ([]byte, bool, error) { return t.wire(out, f.value, child, to, depth+1) })
		if err != nil {
			return nil, err
		}
		if err := t.fits(len(out)); err != nil {
			return nil, err
		}
	}
	out = append(out, added...)
	return out, t.fits(len(out))
}

// checkWire returns an error for messages that decoders may read in different ways: fields of the table that are not
// of the right type, or occur twice.
func checkWire(message []byte, n *node, at *path) error {
	seen := map[protowire.Number]bool{}
	for f, err := range fieldsOf(message, at) {
		if err != nil {
			return err
		}
		field, ok := n.wire[f.number]
		if !ok || field.node == nil && !n.isDeciding(field.name) {
			continue
		}
		if f.kind != protowire.BytesType {
			return badRequest(at.key(field.name), "malformed protobuf: wire type %d", f.kind)
		}
		if seen[f.number] && !field.repeated {
			return badRequest(at.key(field.name), "duplicate field; set it once")
		}
		seen[f.number] = true
	}
	return nil
}

// wireEntry appends a translated entry of a map of strings; keep is false if the view does not have it.
func (t *translation) wireEntry(out, raw []byte, p *pairs, at *path) (with []byte, keep bool, err error) {
	var key, value string
	seen := map[protowire.Number]bool{}
	for f, err := range fieldsOf(raw, at) {
		if err != nil {
			return nil, false, err
		}
		if f.number != entryKey && f.number != entryValue {
			continue
		}
		if f.kind != protowire.BytesType || seen[f.number] {
			return nil, false, badRequest(at, "malformed protobuf: field %d of an entry", f.number)
		}
		if seen[f.number] = true; f.number == entryKey {
			key = string(f.value)
		} else {
			value = string(f.value)
		}
	}
	newKey, newValue, keep := p.translate(t, key, value)
	if newKey == key && newValue == value {
		return append(out, raw...), keep, nil
	}
	out = protowire.AppendString(protowire.AppendTag(out, entryKey, protowire.BytesType), newKey)
	return protowire.AppendString(protowire.AppendTag(out, entryValue, protowire.BytesType), newValue), keep, nil
}
