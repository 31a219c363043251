package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	// raw is the whole field, value the content of a field of kind BytesType. Both are parts of the message.
	raw, value []byte
}

// each calls f with each field of a message, in order. It returns the first error; the message may be malformed in any
// way.
func each(message []byte, f func(field) error) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return fmt.Errorf("field %d: %w", number, protowire.ParseError(length))
		}
		at := field{number: number, kind: kind, raw: message[:tag+length]}
		if kind == protowire.BytesType {
			at.value, _ = protowire.ConsumeBytes(message[tag:])
		}
		if err := f(at); err != nil {
			return err
		}
		message = message[tag+length:]
	}
	return nil
}

// bytes returns the content of a field that is a string, bytes or a message.
func (f field) bytes() ([]byte, error) {
	if f.kind != protowire.BytesType {
		return nil, fmt.Errorf("field %d: wire type %d, expected %d", f.number, f.kind, protowire.BytesType)
	}
	return f.value, nil
}

func (f field) string() (string, error) {
	value, err := f.bytes()
	return string(value), err
}

func appendString(message []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(message, number, protowire.BytesType), value)
}

// sizeOf returns the size of a field of kind BytesType with so many bytes.
func sizeOf(number protowire.Number, length int) int {
	return protowire.SizeTag(number) + protowire.SizeBytes(length)
}
