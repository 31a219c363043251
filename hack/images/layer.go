package main

import (
	"archive/tar"
	"bytes"
	"io"
	"path"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// file is a file of a layer; its path has no leading slash.
type file struct {
	path    string
	content []byte
	mode    int64
}

// newLayer returns a layer with the files and their directories, which belong to root and have the given time.
func newLayer(files []file, created time.Time) (v1.Layer, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	directories := map[string]bool{".": true}
	var add func(dir string) error
	add = func(dir string) error {
		if directories[dir] {
			return nil
		}
		directories[dir] = true
		if err := add(path.Dir(dir)); err != nil {
			return err
		}
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: created})
	}
	for _, f := range files {
		if err := add(path.Dir(f.path)); err != nil {
			return nil, err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.content)), ModTime: created}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}
