package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxMessage bounds the size of a field: an object has a few megabytes in etcd, and an entry of an OpenAPI document
// less.
const maxMessage = 64 << 20

// minRead is how much is allocated for a field before any of it has arrived.
const minRead = 64 << 10

// Reader reads the fields of a message one by one, so that a long one is never in memory as a whole. All fields are of
// kind BytesType.
type Reader struct {
	// Hold is called before the buffer of a field grows, with its next size; its error ends the read. Nil does nothing.
	Hold func(bytes int) error

	from *bufio.Reader
	// read counts bytes; buffer holds the last field.
	read   uint64
	buffer []byte
}

// NewReader returns a reader of a stream.
func NewReader(from io.Reader) *Reader { return &Reader{from: bufio.NewReaderSize(from, 64<<10)} }

// More reports whether anything follows. An error other than the end of the stream is returned by what reads on.
func (r *Reader) More() bool {
	_, err := r.from.Peek(1)
	return !errors.Is(err, io.EOF)
}

// Each calls f with the number and the content of each field of a message, of that length. The content is valid until f
// returns.
func (r *Reader) Each(length uint64, f func(number protowire.Number, content []byte) error) error {
	for r.read = 0; r.read < length; {
		number, size, err := r.Header()
		if err != nil {
			return err
		}
		content, err := r.Bytes(size)
		if err != nil {
			return err
		}
		if r.read > length {
			return fmt.Errorf("field %d ends after its message", number)
		}
		if err := f(number, content); err != nil {
			return err
		}
	}
	return nil
}

// Header reads the number and the length of a field of kind BytesType. Envelopes, lists and OpenAPI documents
// have no others.
func (r *Reader) Header() (protowire.Number, uint64, error) {
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
func (r *Reader) ReadByte() (byte, error) {
	b, err := r.from.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	r.read++
	return b, err
}

// Bytes reads the content of a field. It is valid until the next call. The buffer grows with what arrives: a length is
// not a reason to allocate.
func (r *Reader) Bytes(length uint64) ([]byte, error) {
	if length > maxMessage {
		return nil, fmt.Errorf("a field of %d bytes", length)
	}
	r.buffer = r.buffer[:0]
	for missing := int(length); missing > 0; missing = int(length) - len(r.buffer) {
		have := len(r.buffer)
		n := min(missing, max(minRead, have, cap(r.buffer)-have))
		if r.Hold != nil {
			if err := r.Hold(have + n); err != nil {
				return nil, err
			}
		}
		r.buffer = slices.Grow(r.buffer, n)[:have+n]
		n, err := io.ReadFull(r.from, r.buffer[have:])
		r.read += uint64(n) //nolint:gosec // not negative
		if err != nil {
			return nil, fmt.Errorf("a field of %d bytes: %w", length, io.ErrUnexpectedEOF)
		}
	}
	return r.buffer, nil
}
