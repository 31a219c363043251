package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// packWriter checks a pack while it is received. It holds the latest data back until they are checked, so that the end
// of a pack is stored only if all of it is good. go-git resolves objects when it has the end.
type packWriter struct {
	stored io.WriteCloser
	pipe   *io.PipeWriter
	result chan error
	held   []byte
}

func newPackWriter(stored io.WriteCloser, maxInflated int64, take func(objects, declared int64) error) *packWriter {
	reader, writer := io.Pipe()
	w := &packWriter{stored: stored, pipe: writer, result: make(chan error, 1)}
	go func() {
		err := checkPack(reader, maxInflated, take)
		if err == nil {
			// The checksum at the end.
			_, err = io.Copy(io.Discard, reader)
		}
		_ = reader.CloseWithError(err)
		w.result <- err
	}()
	return w
}

// Write checks data, and stores those of the call before.
func (w *packWriter) Write(data []byte) (int, error) {
	if _, err := w.pipe.Write(data); err != nil {
		return 0, err
	}
	if len(w.held) > 0 {
		if _, err := w.stored.Write(w.held); err != nil {
			return 0, err
		}
	}
	w.held = append(w.held[:0], data...)
	return len(data), nil
}

// Close stores the rest if the pack is good.
func (w *packWriter) Close() error {
	_ = w.pipe.Close()
	err := <-w.result
	if err == nil && len(w.held) > 0 {
		_, err = w.stored.Write(w.held)
	}
	closeErr := w.stored.Close()
	if err != nil {
		return err
	}
	return closeErr
}

// maxPackObjects limits the objects of a pack: go-git allocates memory for as many as the pack says that it has.
const maxPackObjects = 1 << 20

// objectsAtOnce is how many objects are taken out of a budget together.
const objectsAtOnce = 4096

// checkPack reads the objects of a pack, without keeping them, and returns an error if one of them, or their sum, is
// too large, or that of take, which it calls with the numbers of those that it reads next and of all: a server may send
// fewer than it says, and as slowly as it likes.
func checkPack(r io.Reader, maxInflated int64, take func(objects, declared int64) error) error {
	scanner := packfile.NewScanner(r)
	_, count, err := scanner.Header()
	if errors.Is(err, packfile.ErrEmptyPackfile) {
		return nil
	}
	if err != nil {
		return err
	}
	if count > maxPackObjects {
		return fmt.Errorf("the commit has %d objects, more than %d; split the repository", count, maxPackObjects)
	}
	left := maxInflated
	for i := range int64(count) {
		if i%objectsAtOnce == 0 {
			if err := take(min(objectsAtOnce, int64(count)-i), int64(count)); err != nil {
				return err
			}
		}
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return err
		}
		if header.Length > maxObject {
			return tooLarge(header.Length)
		}
		start := &beginning{}
		if _, _, err := scanner.NextObject(start); err != nil {
			return err
		}
		left -= header.Length
		if header.Type.IsDelta() {
			base, size, err := start.deltaSizes()
			if err != nil {
				return err
			}
			if max(base, size) > maxObject {
				return tooLarge(max(base, size))
			}
			// Whoever reads the object reads the one that it applies to, too.
			left -= base + size
		}
		if left < 0 {
			return fmt.Errorf("the repository has more than %d MiB when unpacked; split it, or set --max-repository-bytes of hns-sync", maxInflated>>20)
		}
	}
	return nil
}

// beginning keeps the first bytes that are written, enough for the two sizes of a delta.
type beginning struct{ data []byte }

// Write implements io.Writer.
func (b *beginning) Write(data []byte) (int, error) {
	b.data = append(b.data, data[:min(len(data), 2*binary.MaxVarintLen64-len(b.data))]...)
	return len(data), nil
}

// deltaSizes returns the size of the object that a delta applies to, and that of the object that results.
func (b *beginning) deltaSizes() (base, result int64, err error) {
	r := bytes.NewReader(b.data)
	for _, size := range []*int64{&base, &result} {
		n, err := binary.ReadUvarint(r)
		if err != nil || n > 1<<62 {
			return 0, 0, fmt.Errorf("a delta in the pack has a malformed size: %w", err)
		}
		*size = int64(n)
	}
	return base, result, nil
}
