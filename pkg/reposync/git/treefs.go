package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

const (
	// maxDirectories and maxEntries limit the directories that are read, and what they contain: a few trees that
	// contain each other many times can have any number, and links can have them read again and again.
	maxDirectories, maxEntries = 100_000, 1_000_000
	// maxLinks limits how many symbolic links lead to a file.
	maxLinks = 8
	// maxTarget limits the length of a symbolic link.
	maxTarget = 4096
)

var errTooManyDirectories = fmt.Errorf("the repository has more than %d directories, or %d files and directories; split it", maxDirectories, maxEntries)

// treeFS is the file system of a commit's tree. It reads objects when they are needed. Symbolic links to files are
// followed inside the tree.
type treeFS struct {
	objects storer.EncodedObjectStorer
	root    plumbing.Hash
	trees   *trees
	// directories and entries are how many more may be read.
	directories, entries *int
}

func newTreeFS(objects storer.EncodedObjectStorer, root plumbing.Hash) *treeFS {
	directories, entries := maxDirectories, maxEntries
	return &treeFS{objects, root, newTrees(objects), &directories, &entries}
}

// Open opens a file, following symbolic links, or a directory.
func (t *treeFS) Open(name string) (fs.File, error) {
	entry, err := t.resolve("open", name)
	if err != nil {
		return nil, err
	}
	if entry.IsDir() {
		entries, err := t.ReadDir(entry.path)
		if err != nil {
			return nil, err
		}
		return &directory{entry: entry, entries: entries}, nil
	}
	blob, err := object.GetBlob(t.objects, entry.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{entry, reader}, nil
}

// Stat describes a file, following symbolic links.
func (t *treeFS) Stat(name string) (fs.FileInfo, error) {
	entry, err := t.resolve("stat", name)
	if err != nil {
		return nil, err
	}
	return entry, nil
}

// ReadDir returns the entries of a directory by name.
func (t *treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	tree, err := t.tree(name)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	entries := make([]fs.DirEntry, 0, len(tree))
	for _, e := range tree {
		entries = append(entries, &entry{TreeEntry: e, path: path.Join(name, e.Name)})
	}
	return entries, nil
}

// tree returns the entries of a directory, by name.
func (t *treeFS) tree(name string) ([]object.TreeEntry, error) {
	found, err := t.lookup(name)
	if err != nil {
		return nil, err
	}
	if !found.IsDir() {
		return nil, errors.New("not a directory")
	}
	*t.directories--
	return t.entriesOf(found.Hash, true)
}

// entriesOf returns the entries of a tree. They count if they are listed, and whenever they are read: links into more
// trees than are kept have each read again.
func (t *treeFS) entriesOf(hash plumbing.Hash, listed bool) ([]object.TreeEntry, error) {
	if *t.directories < 0 || *t.entries < 0 {
		return nil, errTooManyDirectories
	}
	entries, kept, err := t.trees.get(hash)
	if err != nil {
		return nil, err
	}
	if listed || !kept {
		*t.entries -= len(entries)
	}
	if *t.entries < 0 {
		return nil, errTooManyDirectories
	}
	return entries, nil
}

// lookup returns an entry without following its link.
func (t *treeFS) lookup(name string) (*entry, error) {
	found := &entry{TreeEntry: object.TreeEntry{Name: ".", Mode: filemode.Dir, Hash: t.root}, path: name}
	if name == "." {
		return found, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !found.IsDir() {
			return nil, fs.ErrNotExist
		}
		entries, err := t.entriesOf(found.Hash, false)
		if err != nil {
			return nil, err
		}
		at, exists := slices.BinarySearchFunc(entries, part, func(e object.TreeEntry, name string) int { return strings.Compare(e.Name, name) })
		if !exists {
			return nil, fs.ErrNotExist
		}
		found.TreeEntry = entries[at]
	}
	return found, nil
}

// resolve returns an entry, following links to files.
func (t *treeFS) resolve(op, name string) (*entry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at := name
	for range maxLinks {
		found, err := t.lookup(at)
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		if found.TreeEntry.Mode != filemode.Symlink {
			return found, nil
		}
		target, err := t.target(found)
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		at = path.Join(path.Dir(at), target)
		if path.IsAbs(target) || !fs.ValidPath(at) {
			return nil, &fs.PathError{Op: op, Path: name, Err: errors.New("the symbolic link leads out of the repository")}
		}
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: errors.New("too many symbolic links")}
}

func (t *treeFS) target(link *entry) (string, error) {
	blob, err := object.GetBlob(t.objects, link.Hash)
	if err != nil {
		return "", err
	}
	if blob.Size > maxTarget {
		return "", errors.New("the symbolic link is too long")
	}
	reader, err := blob.Reader()
	if err != nil {
		return "", err
	}
	defer func() { _ = reader.Close() }()
	data, err := io.ReadAll(io.LimitReader(reader, maxTarget))
	return string(data), err
}

// entry is a file, a directory or a link. It implements fs.DirEntry and fs.FileInfo.
type entry struct {
	object.TreeEntry
	path string
}

func (e *entry) Name() string               { return e.TreeEntry.Name }
func (e *entry) IsDir() bool                { return e.TreeEntry.Mode == filemode.Dir }
func (e *entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e *entry) Info() (fs.FileInfo, error) { return e, nil }
func (e *entry) Size() int64                { return 0 }
func (e *entry) ModTime() time.Time         { return time.Time{} }
func (e *entry) Sys() any                   { return nil }

// Mode returns the type of the file. A submodule is neither a file nor a directory.
func (e *entry) Mode() fs.FileMode {
	switch e.TreeEntry.Mode {
	case filemode.Dir:
		return fs.ModeDir | 0o555
	case filemode.Symlink:
		return fs.ModeSymlink
	case filemode.Regular, filemode.Executable, filemode.Deprecated:
		return 0o444
	}
	return fs.ModeIrregular
}

type file struct {
	*entry
	io.ReadCloser
}

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return f.entry, nil }

type directory struct {
	*entry
	entries []fs.DirEntry
}

// Stat describes the directory.
func (d *directory) Stat() (fs.FileInfo, error) { return d.entry, nil }

// Read fails: a directory has no content.
func (d *directory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: errors.New("is a directory")}
}

// Close does nothing.
func (d *directory) Close() error { return nil }
