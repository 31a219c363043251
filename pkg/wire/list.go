package wire

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ReadList reads a list of objects of a kind and calls f with each of them as it arrives, so that a long list is never
// in memory as a whole. It returns the list's metadata.
func (f *Formats) ReadList(from io.Reader, kind schema.GroupVersionKind, each func(*Object)) (metav1.ListMeta, error) {
	var meta metav1.ListMeta
	format := f.Of(kind)
	if format == nil {
		return meta, fmt.Errorf("%s has no encoding in protobuf", kind)
	}
	r := NewReader(from)
	head := make([]byte, len(prefix))
	if _, err := io.ReadFull(r.from, head); err != nil || !Recognizes(head) {
		return meta, errors.New("not a list in protobuf")
	}
	named, length := head, uint64(0)
	// The message comes last in its envelope, except for the description of its encoding, which is always the same.
	for number := protowire.Number(0); number != envelopeRaw; {
		var err error
		if number, length, err = r.Header(); err != nil {
			return meta, fmt.Errorf("envelope: %w", err)
		}
		if number != envelopeRaw {
			field, err := r.Bytes(length)
			if err != nil {
				return meta, fmt.Errorf("envelope: %w", err)
			}
			named = append(protowire.AppendVarint(protowire.AppendTag(named, number, protowire.BytesType), length), field...)
		}
	}
	if got, _, err := open(named); err != nil || got != kind.GroupVersion().WithKind(kind.Kind+"List") {
		return meta, fmt.Errorf("%s in place of a list of %s: %w", got, kind, err)
	}
	return meta, r.items(length, format, &meta, each)
}

// items reads the message of a list, of that length.
func (r *Reader) items(length uint64, format *Format, meta *metav1.ListMeta, each func(*Object)) error {
	n := 0
	return r.Each(length, func(number protowire.Number, message []byte) error {
		switch number {
		case metadata:
			if err := meta.Unmarshal(message); err != nil {
				return fmt.Errorf("metadata of the list: %w", err)
			}
		case listItems:
			o, err := decodeObject(message, format)
			if err != nil {
				return fmt.Errorf("item %d: %w", n, err)
			}
			each(o)
			n++
		}
		return nil
	})
}
