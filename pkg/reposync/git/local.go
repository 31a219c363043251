package git

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

const localScheme = "file://"

// errNoLocal is returned for local repositories where none are allowed.
var errNoLocal = errors.New("local repositories are not allowed; use https or ssh, or allow a directory of hns-sync by --local-repositories")

// openLocal opens a repository below the root, with or without a working tree. It reads the repository's own files and
// runs nothing: neither a file .git that names another directory, nor alternates, nor links lead out of it.
func (r *Reader) openLocal(dir string) (*gogit.Repository, error) {
	if r.LocalRoot == "" {
		return nil, errNoLocal
	}
	root, err := filepath.EvalSymlinks(r.LocalRoot)
	if err != nil {
		return nil, err
	}
	// The same error for all: the existence of other directories is not revealed.
	outside := fmt.Errorf("%s is not a Git repository below %s", dir, r.LocalRoot)
	for _, candidate := range []string{filepath.Join(dir, ".git"), dir} {
		resolved, err := filepath.EvalSymlinks(candidate)
		if err != nil {
			continue
		}
		below, err := filepath.Rel(root, resolved)
		if err != nil || !filepath.IsLocal(below) {
			continue
		}
		files := osfs.New(resolved, osfs.WithBoundOS())
		if !isGitDirectory(files) {
			continue
		}
		storer := &storage{filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(cache.MiByte), filesystem.Options{AlternatesFS: files}), nil, r.MaxBytes}
		repository, err := gogit.Open(storer, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		return repository, nil
	}
	return nil, outside
}

func isGitDirectory(files billy.Filesystem) bool {
	for _, name := range []string{"HEAD", "objects"} {
		if _, err := files.Lstat(name); err != nil {
			return false
		}
	}
	return true
}

func (r *Reader) localHead(dir string, source Source) (string, error) {
	repository, err := r.openLocal(dir)
	if err != nil {
		return "", err
	}
	ref, err := repository.Reference(source.reference(), true)
	if err != nil {
		return "", source.notFound()
	}
	return ref.Hash().String(), nil
}

func (r *Reader) readLocal(dir string, source Source) (*Snapshot, error) {
	repository, err := r.openLocal(dir)
	if err != nil {
		return nil, err
	}
	hash := plumbing.NewHash(strings.ToLower(source.Commit))
	if source.Commit == "" {
		ref, err := repository.Reference(source.reference(), true)
		if err != nil {
			return nil, source.notFound()
		}
		hash = ref.Hash()
	}
	return snapshotOf(repository, hash)
}
