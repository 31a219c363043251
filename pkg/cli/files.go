package cli

import (
	"errors"
	"os"
	"path/filepath"
)

// WritePrivate writes a file that only its owner can read. It replaces an existing one, whose mode others may be able to
// read by.
func WritePrivate(name string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
