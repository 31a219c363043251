package ui

import (
	"compress/gzip"
	"io/fs"
	"testing"
)

// maxBundle is how many bytes the whole page may have, compressed.
const maxBundle = 45 << 10

// counter counts what is written.
type counter int

func (c *counter) Write(data []byte) (int, error) {
	*c += counter(len(data))
	return len(data), nil
}

func TestBundleIsSmall(t *testing.T) {
	var size counter
	w, err := gzip.NewWriterLevel(&size, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(dist, "dist", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dist, path)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if size > maxBundle {
		t.Errorf("the page has %d bytes, compressed; at most %d are allowed", size, maxBundle)
	}
	t.Logf("%d bytes", size)
}
