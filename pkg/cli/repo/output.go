package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/privatefile"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// outputMarker is a file that marks directories which hydrate has written, and may replace.
const outputMarker = ".hydrated"

// replaceDirectory replaces the contents of dir with the files. It returns an error if hydrate has not written dir.
func replaceDirectory(repo, dir string, files []hydrate.File) error {
	if err := checkOutput(repo, dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 && !slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == outputMarker }) {
		return fmt.Errorf("the directory %s contains files that this command did not write; choose another one by --output, or empty it", dir)
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(parent, ".hydrating-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if err := writeBelow(temporary, append(files, hydrate.File{Name: outputMarker})); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temporary, dir)
}

// writeBelow writes files into a directory and nowhere else: their names come from the contents of a repository.
func writeBelow(dir string, files []hydrate.File) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if !fs.ValidPath(f.Name) {
			return fmt.Errorf("%q is not a valid file name; rename the cluster or the object", f.Name)
		}
		if err := root.MkdirAll(path.Dir(f.Name), 0o750); err != nil {
			return err
		}
		if err := root.WriteFile(f.Name, f.Content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file outside the repository.
func replaceFile(repo, name string, content []byte) error {
	if err := checkOutput(repo, name); err != nil {
		return err
	}
	return privatefile.Write(name, content)
}

// checkOutput returns an error if output is part of the repository or contains it.
func checkOutput(repo, output string) error {
	from, err := filepath.Abs(repo)
	if err != nil {
		return err
	}
	to, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	below, err := filepath.Rel(from, to)
	if err != nil {
		return err
	}
	above, err := filepath.Rel(to, from)
	if err != nil {
		return err
	}
	top, _, _ := strings.Cut(filepath.ToSlash(below), "/")
	if slices.Contains(object.TopDirs, top) || filepath.IsLocal(above) {
		return fmt.Errorf("%s is part of the repository; choose another path by --output", output)
	}
	if info, err := os.Lstat(to); err == nil && info.Mode()&fs.ModeSymlink != 0 && filepath.IsLocal(below) {
		return fmt.Errorf("%s is a symbolic link of the repository; remove it, or choose another path by --output", output)
	}
	return nil
}
