package git

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/go-git/go-billy/v5"
)

// quota is a file system that stops accepting writes after a number of bytes, because the size of a repository is not
// known before it is read.
type quota struct {
	billy.Filesystem
	max  int64
	left *atomic.Int64
}

func newQuota(files billy.Filesystem, limit int64) *quota {
	q := &quota{Filesystem: files, max: limit, left: &atomic.Int64{}}
	q.left.Store(limit)
	return q
}

// Create opens a file for writing.
func (q *quota) Create(name string) (billy.File, error) { return q.limit(q.Filesystem.Create(name)) }

// Open opens a file for reading.
func (q *quota) Open(name string) (billy.File, error) { return q.limit(q.Filesystem.Open(name)) }

// OpenFile opens a file.
func (q *quota) OpenFile(name string, flag int, mode os.FileMode) (billy.File, error) {
	return q.limit(q.Filesystem.OpenFile(name, flag, mode))
}

// TempFile creates a file.
func (q *quota) TempFile(dir, prefix string) (billy.File, error) {
	return q.limit(q.Filesystem.TempFile(dir, prefix))
}

func (q *quota) limit(file billy.File, err error) (billy.File, error) {
	if err != nil {
		return nil, err
	}
	return &quotaFile{file, q}, nil
}

type quotaFile struct {
	billy.File
	quota *quota
}

// Write fails if the quota is exhausted.
func (f *quotaFile) Write(data []byte) (int, error) {
	if f.quota.left.Add(-int64(len(data))) < 0 {
		return 0, fmt.Errorf("the repository is larger than %d MiB; split it, or set --max-repository-bytes of hns-sync", f.quota.max>>20)
	}
	return f.File.Write(data)
}
