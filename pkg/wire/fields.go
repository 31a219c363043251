package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field is one field of a message.
type Field struct {
	Number protowire.Number
	Kind   protowire.Type
	// Raw is the whole field, Value the content of a field of kind BytesType. Both are parts of the message.
	Raw, Value []byte
}

// Each calls f with each field of a message, in order. It returns the first error; the message may be malformed in any
// way.
func Each(message []byte, f func(Field) error) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return fmt.Errorf("field %d: %w", number, protowire.ParseError(length))
		}
		at := Field{Number: number, Kind: kind, Raw: message[:tag+length]}
		if kind == protowire.BytesType {
			at.Value, _ = protowire.ConsumeBytes(message[tag:])
		}
		if err := f(at); err != nil {
			return err
		}
		message = message[tag+length:]
	}
	return nil
}

// bytes returns the content of a field that is a string, bytes or a message.
func (f Field) bytes() ([]byte, error) {
	if f.Kind != protowire.BytesType {
		return nil, fmt.Errorf("field %d: wire type %d, expected %d", f.Number, f.Kind, protowire.BytesType)
	}
	return f.Value, nil
}

func (f Field) string() (string, error) {
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
