package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// packWriter checks a pack while it is received. It holds the latest data back until they are checked, so that the end
// of a pack is stored only if all of it is good. go-git resolves objects when it has the end.
type packWriter struct {
	stored io.WriteCloser
	disk   *quota
	pipe   *io.PipeWriter
	result chan error
	held   []byte
}

func newPackWriter(stored io.WriteCloser, maxInflated int64, disk *quota) *packWriter {
	reader, writer := io.Pipe()
	w := &packWriter{stored: stored, disk: disk, pipe: writer, result: make(chan error, 1)}
	go func() {
		var err error
		disk.memory, err = checkPack(reader, maxInflated, disk)
		if err == nil {
			_ = reader.CloseWithError(errors.New("the server sends more than a pack")) // The end would be no longer held back.
		} else {
			_ = reader.CloseWithError(err)
		}
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

// Close stores the rest if the pack is good, and returns when the objects are resolved.
func (w *packWriter) Close() error {
	_ = w.pipe.Close()
	end := sync.OnceValue(w.stored.Close)
	err := <-w.result
	if err != nil {
		w.disk.refused.Store(true) // go-git unpacks objects without the end, too, if all of them are stored.
	} else {
		err = w.disk.unpack(func() error {
			if len(w.held) > 0 {
				if _, err := w.stored.Write(w.held); err != nil {
					return err
				}
			}
			return end()
		})
	}
	endErr := end()
	if err != nil {
		return err
	}
	return endErr
}

// maxPackObjects limits the objects of a pack: go-git allocates memory for as many as the pack says that it has.
const maxPackObjects = 1 << 20

// objectsAtOnce is how many objects are taken out of a budget together.
const objectsAtOnce = 4096

// checkPack reads the objects of a pack, without keeping them, and returns how much memory it takes to unpack them, or an
// error if one of them, or their sum, is too large, or if the budget of the quota has no space for them. It takes those that
// it reads next out of that, not all that the pack declares: a server may send fewer, and as slowly as it likes.
func checkPack(r io.Reader, maxInflated int64, disk *quota) (memory int64, err error) {
	scanner := packfile.NewScanner(r)
	_, count, err := scanner.Header()
	if errors.Is(err, packfile.ErrEmptyPackfile) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if count > maxPackObjects {
		return 0, fmt.Errorf("the commit has %d objects, more than %d; split the repository", count, maxPackObjects)
	}
	left, unpacked := maxInflated, unpacking{}
	for i := range int64(count) {
		if i%objectsAtOnce == 0 {
			if err := disk.pack(min(objectsAtOnce, int64(count)-i), int64(count)); err != nil {
				return 0, err
			}
		}
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return 0, err
		}
		if header.Length > maxObject {
			return 0, tooLarge(header.Length)
		}
		start := &beginning{}
		if _, _, err := scanner.NextObject(start); err != nil {
			return 0, err
		}
		left -= header.Length
		unpacked.add(header)
		if header.Type.IsDelta() {
			base, size, err := start.deltaSizes()
			if err != nil {
				return 0, err
			}
			if max(base, size) > maxObject {
				return 0, tooLarge(max(base, size))
			}
			// Whoever reads the object reads the one that it applies to, too.
			left -= base + size
			unpacked.addDelta(header, base, size)
		}
		if left < 0 {
			return 0, fmt.Errorf("the repository has more than %d MiB when unpacked; split it, or set --max-repository-bytes of hns-sync", maxInflated>>20)
		}
	}
	if _, err := scanner.Checksum(); err != nil {
		return 0, err
	}
	if memory = unpacked.memory(); memory > maxUnpacked {
		return 0, fmt.Errorf("it takes %d MiB of memory to unpack the objects of the commit, and the limit is %d MiB; split the repository", memory>>20, maxUnpacked>>20)
	}
	return memory, nil
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
