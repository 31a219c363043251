// Package git reads one revision of a Git repository, over https or ssh or from a local directory. It runs no other
// program, and it treats the repository as untrusted: what it stores and what it reads is limited, and symbolic links
// cannot lead out of the revision.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Source is a revision of a repository. At most one of Branch, Tag and Commit is set; with none it is the default
// branch.
type Source struct {
	// URL begins with https://, ssh:// or file:///.
	URL                 string
	Branch, Tag, Commit string
}

// Credentials are those of a Secret. All are optional for https; ssh needs an identity and known hosts.
type Credentials struct {
	Username, Password string
	// CA holds certificates of authorities in PEM, in addition to those of the system.
	CA []byte
	// Identity is a private key, and KnownHosts the keys of servers, in the formats of OpenSSH.
	Identity, KnownHosts []byte
}

// Reader reads repositories, one request at a time.
type Reader struct {
	// LocalRoot is the directory that contains local repositories. Empty allows none.
	LocalRoot string
	// Scratch is a directory for temporary files. Empty means that of the system.
	Scratch string
	// MaxBytes limits what is stored of a repository.
	MaxBytes int64
	// Budget limits what readers store together. Nil has no limit.
	Budget *Budget
	// InTurn calls a function that takes much memory when no other reader calls one, with a context that ends before that
	// of the caller if it takes too long. It may wait for any time, in which no other limit ends a Read. Nil has it called at once.
	InTurn func(context.Context, func(context.Context) error) error
	// last is the last request that was abandoned.
	last abandoned
}

// Snapshot is the content of one commit. It does not change when the branch moves.
type Snapshot struct {
	Commit string
	// FS contains the files of the commit.
	FS    fs.FS
	close func() error
}

// Close removes the temporary files.
func (s *Snapshot) Close() error { return s.close() }

// scratchPrefix is that of the temporary files and directories of this process, and, in a container, of those of the
// processes that had its ID before a restart.
func scratchPrefix() string { return fmt.Sprintf("hns-sync-%d-", os.Getpid()) }

// RemoveScratch removes what an earlier process of this ID has left in a directory for temporary files, empty for that
// of the system. Call it before the first read.
func RemoveScratch(dir string) error {
	dir = cmp.Or(dir, os.TempDir())
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), scratchPrefix()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// fetched is the name of the fetched revision in the temporary repository.
const fetched = plumbing.ReferenceName("refs/heads/fetched")

// Head returns the commit or the tag object that the source names now. It transfers no content. For a pinned commit it
// sends no request.
func (r *Reader) Head(ctx context.Context, source Source, credentials *Credentials) (string, error) {
	if source.Commit != "" {
		return source.Commit, nil
	}
	return abandon(ctx, &r.last, func() (string, error) { return r.head(ctx, source, credentials) }, func(string) {})
}

func (r *Reader) head(ctx context.Context, source Source, credentials *Credentials) (string, error) {
	if dir, ok := strings.CutPrefix(source.URL, localScheme); ok {
		return r.localHead(dir, source)
	}
	refs, err := r.references(ctx, source, credentials)
	if err != nil {
		return "", err
	}
	byName := map[plumbing.ReferenceName]*plumbing.Reference{}
	for _, ref := range refs {
		byName[ref.Name()] = ref
	}
	ref := byName[source.reference()]
	// HEAD may be symbolic.
	for range 5 {
		if ref == nil || ref.Type() == plumbing.HashReference {
			break
		}
		ref = byName[ref.Target()]
	}
	if ref == nil {
		return "", source.notFound()
	}
	return ref.Hash().String(), nil
}

// references returns those of a server, which are bounded.
func (r *Reader) references(ctx context.Context, source Source, credentials *Credentials) ([]*plumbing.Reference, error) {
	remote, options, err := r.remote(source, credentials, nil)
	if err != nil {
		return nil, err
	}
	defer options.remove()
	refs, err := remote.ListContext(context.WithValue(ctx, listKey{}, true),
		&gogit.ListOptions{Auth: options.auth, CABundle: options.ca, ProxyOptions: options.connection(listScheme)})
	return refs, withoutBody(err)
}

// Read reads the revision that the source names now.
func (r *Reader) Read(ctx context.Context, source Source, credentials *Credentials) (*Snapshot, error) {
	f := newFetch(ctx, r.InTurn)
	defer f.end()
	return abandon(f, &r.last, func() (*Snapshot, error) { return r.read(f, source, credentials) }, func(s *Snapshot) { _ = s.Close() })
}

func (r *Reader) read(ctx *fetch, source Source, credentials *Credentials) (*Snapshot, error) {
	if dir, ok := strings.CutPrefix(source.URL, localScheme); ok {
		return r.readLocal(dir, source)
	}
	r.Budget.removeRemaining()
	dir, err := os.MkdirTemp(r.Scratch, scratchPrefix())
	if err != nil {
		return nil, err
	}
	disk := newQuota(osfs.New(dir, osfs.WithBoundOS()), r.MaxBytes, r.Budget)
	remove := func() error { return disk.remove(dir) }
	disk.fetch = ctx
	snapshot, err := r.fetch(ctx, disk, source, credentials)
	disk.fetch = nil
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	snapshot.close = remove
	return snapshot, nil
}

// fetch reads the revision into a bare repository on disk.
func (r *Reader) fetch(ctx context.Context, disk *quota, source Source, credentials *Credentials) (*Snapshot, error) {
	storer := &storage{filesystem.NewStorageWithOptions(disk, cache.NewObjectLRU(cache.MiByte), filesystem.Options{}), disk, r.MaxBytes}
	repository, err := gogit.Init(storer, nil)
	if err != nil {
		return nil, err
	}
	remote, options, err := r.remote(source, credentials, storer)
	if err != nil {
		return nil, err
	}
	defer options.remove()
	from := source.reference().String()
	if source.Commit != "" {
		from = source.Commit
		// References are also part of what is fetched, where they are not bounded. Head has listed those of other sources.
		if _, err := r.references(ctx, source, credentials); err != nil {
			return nil, err
		}
	}
	err = remote.FetchContext(ctx, &gogit.FetchOptions{
		RefSpecs: []config.RefSpec{config.RefSpec("+" + from + ":" + fetched.String())},
		Depth:    1, Tags: gogit.NoTags, Force: true, Auth: options.auth, CABundle: options.ca, ProxyOptions: options.connection(fetchScheme),
	})
	var missing gogit.NoMatchingRefSpecError
	switch {
	case errors.As(err, &missing):
		return nil, source.notFound()
	case err != nil && !errors.Is(err, gogit.NoErrAlreadyUpToDate):
		return nil, fmt.Errorf("cannot fetch %s: %w", source.revision(), withoutBody(err))
	}
	hash := plumbing.NewHash(source.Commit)
	if source.Commit == "" {
		ref, err := repository.Storer.Reference(fetched)
		if err != nil {
			return nil, err
		}
		hash = ref.Hash()
	}
	var snapshot *Snapshot
	err = disk.unpack(func() (err error) {
		snapshot, err = snapshotOf(repository, hash)
		return err
	})
	return snapshot, err
}

// snapshotOf returns the content of a commit, or of the commit of an annotated tag.
func snapshotOf(repository *gogit.Repository, hash plumbing.Hash) (*Snapshot, error) {
	if tag, err := repository.TagObject(hash); err == nil {
		if tag.TargetType != plumbing.CommitObject {
			return nil, fmt.Errorf("the tag %s is not that of a commit", tag.Name)
		}
		hash = tag.Target
	}
	commit, err := repository.CommitObject(hash)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", hash, err)
	}
	if _, err := object.GetTree(repository.Storer, commit.TreeHash); err != nil {
		return nil, fmt.Errorf("tree of commit %s: %w", hash, err)
	}
	return &Snapshot{Commit: hash.String(), FS: newTreeFS(repository.Storer, commit.TreeHash), close: func() error { return nil }}, nil
}

// reference returns the reference that the source names, unless that is a commit.
func (s Source) reference() plumbing.ReferenceName {
	switch {
	case s.Branch != "":
		return plumbing.NewBranchReferenceName(s.Branch)
	case s.Tag != "":
		return plumbing.NewTagReferenceName(s.Tag)
	}
	return plumbing.HEAD
}

func (s Source) revision() string {
	switch {
	case s.Commit != "":
		return "commit " + s.Commit
	case s.Branch != "":
		return "branch " + s.Branch
	case s.Tag != "":
		return "tag " + s.Tag
	}
	return "the default branch"
}

func (s Source) notFound() error {
	return fmt.Errorf("the repository has no such revision: %s", s.revision())
}

// Sub returns the files in a directory of the snapshot. Unlike fs.Sub, symbolic links of the snapshot keep their
// targets.
func (s *Snapshot) Sub(dir string) (fs.FS, error) {
	dir = path.Clean("/" + dir)[1:]
	if dir == "" {
		return s.FS, nil
	}
	info, err := fs.Stat(s.FS, dir)
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the commit has no directory %q", dir)
	}
	return fs.Sub(s.FS, dir)
}
