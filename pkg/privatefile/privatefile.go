// Package privatefile writes files that only their owners can read.
package privatefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file that only its owner can read. It replaces an existing one, whose mode others may be able to read
// by. The file is complete on disk when Write returns, or as it was before if there is an error.
func Write(name string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-") // with mode 0600
	if err != nil {
		return err
	}
	if _, err = file.Write(content); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return nil //nolint:nilerr // The file is written; the directory need not be readable.
	}
	return errors.Join(dir.Sync(), dir.Close())
}
