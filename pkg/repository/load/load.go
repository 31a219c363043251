// Package load reads the objects of a repository. It limits what it reads, because a repository is untrusted.
// Source: docs/spec/config-sync.md 1.
package load

import (
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Limits bound the size of a repository.
type Limits struct {
	// Depth is the number of directories on the path of a file.
	Depth int
	// Files is the number of files that are read, and Objects that of objects in them.
	Files, Objects int
	// Errors is the number of errors after which reading stops.
	Errors int
	// FileBytes is the size of one file, DocumentBytes that of one YAML document in it, and TotalBytes that of all
	// files.
	FileBytes, DocumentBytes, TotalBytes int64
	// DocumentValues is the number of values in one document with its aliases expanded, and TotalValues that in all
	// documents.
	DocumentValues, TotalValues int
	// Nesting is how deep values are nested in a document.
	Nesting int
}

// DefaultLimits are far above what clusters contain: an API server accepts requests of 3 MiB. With as many values as
// allowed, a repository takes about a third of the memory that the manifests give to hns-sync.
var DefaultLimits = Limits{
	Depth: 64, Files: 100_000, Objects: 100_000, Errors: 1000,
	FileBytes: 16 << 20, DocumentBytes: 3 << 20, TotalBytes: 24 << 20,
	DocumentValues: 200_000, TotalValues: 600_000,
	Nesting: 500,
}

// skipped are names of files and directories that are not read.
var skipped = []string{".github", ".gitlab", ".gitlab-ci.yml"}

// extensions are the extensions of the files that are read.
var extensions = []string{".yaml", ".yml", ".json"}

// Load returns the objects of the repository in fsys, by path and position in the file, and all errors that it finds.
// The file system must not lead out of the repository by symbolic links; that of os.Root does not.
func Load(fsys fs.FS, limits Limits) ([]*object.Object, report.Errors) {
	l := &loader{fsys: fsys, limits: limits, bytes: limits.TotalBytes, values: limits.TotalValues, files: limits.Files}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, report.Errors{{Code: report.UnreadableSource, Message: fmt.Sprintf("the repository cannot be read: %v", err), Paths: []string{"."}}}
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case isKustomization(name):
			l.fail(report.Kustomization, name, "Kustomize is not supported in a hierarchical repository; render it first, or remove the file")
		case slices.Contains(object.TopDirs, name) && entry.Type() != 0:
			l.entry(name, entry)
		}
	}
	if len(l.errors) >= limits.Errors {
		l.fail(report.LimitExceeded, ".", "reading stopped after %d errors; correct these first", limits.Errors)
	}
	if len(l.errors) > 0 {
		return nil, l.errors
	}
	return l.objects, nil
}

func isKustomization(name string) bool {
	return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization"
}

// loader is one run of Load.
type loader struct {
	fsys   fs.FS
	limits Limits
	// bytes, values and files are the remainders of the limits.
	bytes         int64
	values, files int
	objects       []*object.Object
	errors        report.Errors
	// expanded is the size of all texts with aliases expanded.
	expanded int64
}

func (l *loader) fail(code report.Code, path, format string, args ...any) {
	l.errors = append(l.errors, &report.Error{Code: code, Message: fmt.Sprintf(format, args...), Paths: []string{path}})
}

// dir reads a directory and all below it.
func (l *loader) dir(dir string, depth int) {
	if depth > l.limits.Depth {
		l.fail(report.LimitExceeded, dir, "directories are nested deeper than %d; move this directory up", l.limits.Depth)
		return
	}
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		l.fail(report.UnreadableFile, dir, "the directory cannot be read: %v", err)
		return
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if path.Dir(name) != dir || !fs.ValidPath(name) {
			l.fail(report.UnreadableFile, dir, "the directory contains an entry with the illegal name %q", entry.Name())
			continue
		}
		if slices.Contains(skipped, entry.Name()) {
			continue
		}
		if l.exhausted() {
			return
		}
		if entry.IsDir() {
			l.dir(name, depth+1)
		} else {
			l.entry(name, entry)
		}
	}
}

// exhausted reports whether a limit of the whole repository is reached, so that reading stops.
func (l *loader) exhausted() bool {
	return l.files < 0 || l.bytes < 0 || l.expanded > l.limits.TotalBytes || l.values < 0 || len(l.objects) > l.limits.Objects || len(l.errors) >= l.limits.Errors
}

// entry reads a file, a directory or a symbolic link.
func (l *loader) entry(name string, entry fs.DirEntry) {
	if entry.IsDir() {
		l.dir(name, 1)
		return
	}
	readable := slices.Contains(extensions, path.Ext(name))
	mode := entry.Type()
	if mode&fs.ModeSymlink != 0 {
		// It may lead to a directory, whatever its name.
		if !readable && !l.counts(name) {
			return
		}
		info, err := fs.Stat(l.fsys, name)
		if err != nil {
			if readable {
				l.fail(report.UnreadableFile, name, "the symbolic link cannot be followed: %v", err)
			}
			return
		}
		if info.IsDir() {
			l.fail(report.LinkedDirectory, name, "symbolic links to directories are not followed; replace the link by the directory")
			return
		}
		mode = info.Mode().Type()
	}
	switch {
	case !readable:
	case mode != 0:
		l.fail(report.UnreadableFile, name, "not a regular file (%s)", mode)
	default:
		l.file(name)
	}
}
