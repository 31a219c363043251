package mapping

import (
	"bytes"

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
	envelope, err := fieldsOf(body[len(protobufPrefix):], nil)
	if err != nil {
		return nil, err
	}
	var statedKind, version string
	seen := map[protowire.Number]bool{}
	for _, f := range envelope {
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
	if kind, err = t.root(statedKind, version, kind); err != nil {
		return nil, err
	}
	n := m.kinds.of(kind)
	if !n.wire {
		return nil, unsupported("%s is not supported in a view as protobuf; use JSON", kind.Kind)
	}
	out := append(make([]byte, 0, len(body)+256), protobufPrefix...)
	for _, f := range envelope {
		if f.number != unknownRaw {
			out = append(out, f.raw...)
			continue
		}
		translated, err := t.wireMessage(f.value, n.node, nil, 0)
		if err != nil {
			return nil, err
		}
		out = f.appendWith(out, translated)
	}
	return out, nil
}

// statedType returns the kind and version of an envelope.
func statedType(message []byte) (kind, version string, err error) {
	fields, err := fieldsOf(message, nil)
	if err != nil {
		return "", "", err
	}
	stated := map[protowire.Number]string{}
	for _, f := range fields {
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

// appendWith appends a field with another value, or as it is if that is the same.
func (f wireBytes) appendWith(out, value []byte) []byte {
	if bytes.Equal(f.value, value) {
		return append(out, f.raw...)
	}
	return protowire.AppendBytes(protowire.AppendTag(out, f.number, protowire.BytesType), value)
}

// maxWireFields bounds the fields of one message, which can have two bytes each and need much more memory.
const maxWireFields = 64 << 10

// fieldsOf returns the fields of a message, which may be malformed in any way.
func fieldsOf(message []byte, at *path) ([]wireBytes, error) {
	fields := make([]wireBytes, 0, 8)
	for len(message) > 0 {
		if len(fields) == maxWireFields {
			return nil, badRequest(at, "a message in protobuf may have at most %d fields in a view; use JSON", maxWireFields)
		}
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, badRequest(at, "malformed protobuf: %v", protowire.ParseError(tag))
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return nil, badRequest(at, "malformed protobuf: %v", protowire.ParseError(length))
		}
		f := wireBytes{number: number, kind: kind, raw: message[:tag+length]}
		if kind == protowire.BytesType {
			f.value, _ = protowire.ConsumeBytes(message[tag:])
		}
		fields = append(fields, f)
		message = message[tag+length:]
	}
	return fields, nil
}

// wire translates a value of BytesType.
func (t *translation) wire(raw []byte, n *node, at *path, depth int) ([]byte, error) {
	switch {
	case depth > t.limits.depth():
		return nil, tooDeep(t.limits)
	case n.text != nil:
		return []byte(n.text(t, string(raw))), nil
	case n.pairs != nil:
		return t.wireEntry(raw, n.pairs, at)
	case n.managed && n.wire == nil:
		return t.wireManaged(raw, n, at)
	}
	return t.wireMessage(raw, n, at, depth)
}

// wireManaged translates the JSON in a FieldsV1.
func (t *translation) wireManaged(raw []byte, n *node, at *path) ([]byte, error) {
	if len(raw) == 0 {
		return raw, nil
	}
	if err := CheckJSON(raw, t.limits); err != nil {
		return nil, err
	}
	return t.managed(nil, raw, n.fields[""], at)
}

// wireMessage translates a message.
func (t *translation) wireMessage(raw []byte, n *node, at *path, depth int) ([]byte, error) {
	fields, err := fieldsOf(raw, at)
	if err != nil {
		return nil, err
	}
	if err := checkWire(fields, n, at); err != nil {
		return nil, err
	}
	if n.selector {
		if fields, err = t.wireSelector(fields, n, at); err != nil {
			return nil, err
		}
	}
	n = n.object(func(name string) string {
		for _, f := range fields {
			if n.wire[f.number].name == name {
				return string(f.value)
			}
		}
		return ""
	})
	out := make([]byte, 0, len(raw)+64)
	index := 0
	for _, f := range fields {
		field := n.wire[f.number]
		if field.node == nil || f.kind == added {
			out = append(out, f.raw...)
			continue
		}
		child, to := field.node, at.key(field.name)
		if field.repeated && child.items != nil {
			child, to = child.items, to.at(index)
			index++
		}
		value, err := t.wire(f.value, child, to, depth+1)
		if err != nil {
			return nil, err
		}
		if value == nil { // left out
			continue
		}
		out = f.appendWith(out, value)
	}
	return out, nil
}

// checkWire returns an error for messages that decoders may read in different ways: fields of the table that are not
// of the right type, or occur twice.
func checkWire(fields []wireBytes, n *node, at *path) error {
	seen := map[protowire.Number]bool{}
	for _, f := range fields {
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

// wireEntry translates an entry of a map of strings. The result is nil if the view does not have it.
func (t *translation) wireEntry(raw []byte, p *pairs, at *path) ([]byte, error) {
	fields, err := fieldsOf(raw, at)
	if err != nil {
		return nil, err
	}
	var key, value string
	seen := map[protowire.Number]bool{}
	for _, f := range fields {
		if f.number != entryKey && f.number != entryValue {
			continue
		}
		if f.kind != protowire.BytesType || seen[f.number] {
			return nil, badRequest(at, "malformed protobuf: field %d of an entry", f.number)
		}
		if seen[f.number] = true; f.number == entryKey {
			key = string(f.value)
		} else {
			value = string(f.value)
		}
	}
	newKey, newValue, keep := p.translate(t, key, value)
	if !keep {
		return nil, nil
	}
	if newKey == key && newValue == value {
		return raw, nil
	}
	out := protowire.AppendString(protowire.AppendTag(nil, entryKey, protowire.BytesType), newKey)
	return protowire.AppendString(protowire.AppendTag(out, entryValue, protowire.BytesType), newValue), nil
}
