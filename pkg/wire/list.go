package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxMessage bounds the size of an object in a list: etcd accepts none that is larger than a few megabytes.
const maxMessage = 64 << 20

// minRead is how much is allocated for a field before any of it has arrived.
const minRead = 64 << 10

// ReadList reads a list of objects of a kind and calls f with each of them as it arrives, so that a long list is never
// in memory as a whole. It returns the list's metadata.
func (f *Formats) ReadList(from io.Reader, kind schema.GroupVersionKind, each func(*Object)) (metav1.ListMeta, error) {
	var meta metav1.ListMeta
	format := f.Of(kind)
	if format == nil {
		return meta, fmt.Errorf("%s has no encoding in protobuf", kind)
	}
	r := &reader{from: bufio.NewReaderSize(from, 64<<10)}
	head := make([]byte, len(prefix))
	if _, err := io.ReadFull(r.from, head); err != nil || !Recognizes(head) {
		return meta, errors.New("not a list in protobuf")
	}
	named, length := head, uint64(0)
	// The message comes last in its envelope, except for the description of its encoding, which is always the same.
	for number := protowire.Number(0); number != envelopeRaw; {
		var err error
		if number, length, err = r.header(); err != nil {
			return meta, fmt.Errorf("envelope: %w", err)
		}
		if number != envelopeRaw {
			field, err := r.bytes(length)
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

// reader reads the fields of a message one by one.
type reader struct {
	from *bufio.Reader
	// read counts bytes; buffer holds the last field.
	read   uint64
	buffer []byte
}

// items reads the message of a list, of that length.
func (r *reader) items(length uint64, format *Format, meta *metav1.ListMeta, each func(*Object)) error {
	r.read = 0
	for n := 0; r.read < length; {
		number, size, err := r.header()
		if err != nil {
			return err
		}
		message, err := r.bytes(size)
		if err != nil {
			return err
		}
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
	}
	return nil
}

// header reads the number and the length of a field of kind BytesType. Envelopes and lists have no others.
func (r *reader) header() (protowire.Number, uint64, error) {
	tag, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(tag)
	if kind != protowire.BytesType || number < 1 {
		return 0, 0, fmt.Errorf("field %d: wire type %d, expected %d", number, kind, protowire.BytesType)
	}
	length, err := binary.ReadUvarint(r)
	return number, length, err
}

// ReadByte reads a byte.
func (r *reader) ReadByte() (byte, error) {
	b, err := r.from.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	r.read++
	return b, err
}

// bytes reads the content of a field. It is valid until the next call. The buffer grows with what arrives: a length is
// not a reason to allocate.
func (r *reader) bytes(length uint64) ([]byte, error) {
	if length > maxMessage {
		return nil, fmt.Errorf("a field of %d bytes", length)
	}
	r.buffer = r.buffer[:0]
	for missing := int(length); missing > 0; missing = int(length) - len(r.buffer) {
		have := len(r.buffer)
		n := min(missing, max(minRead, have, cap(r.buffer)-have))
		r.buffer = slices.Grow(r.buffer, n)[:have+n]
		n, err := io.ReadFull(r.from, r.buffer[have:])
		r.read += uint64(n) //nolint:gosec // not negative
		if err != nil {
			return nil, fmt.Errorf("a field of %d bytes: %w", length, io.ErrUnexpectedEOF)
		}
	}
	return r.buffer, nil
}
