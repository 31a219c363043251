package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-billy/v5"
)

// Budget is how many bytes readers may store together at a time, because they share a volume, and how many objects of
// packs, because go-git keeps something of each in memory. Nil has no limit.
type Budget struct {
	pool
	objects pool
	// remaining are directories that could not be removed. Their bytes are released when they are gone.
	mu        sync.Mutex
	remaining map[string]*quota
}

// pool is what readers share.
type pool struct {
	left atomic.Int64
	// reserved, a sixth, is for repositories that take at most small, of which eight have room there: a few servers that
	// send large repositories slowly do not keep all others from being read.
	reserved, small int64
}

func (p *pool) fill(total int64) {
	p.reserved, p.small = total/6, total/48
	p.left.Store(total)
}

// maxObjects is how many objects packs may have that are read at the same time: one of the largest leaves the reserve.
const maxObjects = maxPackObjects * 6 / 5

// NewBudget returns a budget of a number of bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{remaining: map[string]*quota{}}
	b.fill(bytes)
	b.objects.fill(maxObjects)
	return b
}

// take takes n out of the pool for a repository, which then has so many in total, and reports whether it has them.
func (p *pool) take(n, total int64) bool {
	var least int64
	if total > p.small {
		least = p.reserved
	}
	if p.left.Add(-n) >= least {
		return true
	}
	p.left.Add(n)
	return false
}

// ErrBudget means that other repositories leave no space at present.
var ErrBudget = errors.New("too many large repositories are read at the same time; it is tried again")

var errRefused = errors.New("the pack is refused")

// quota is a file system that stops accepting writes after a number of bytes, because the size of a repository is not
// known before it is read, or when the budget is exhausted.
type quota struct {
	billy.Filesystem
	max         int64
	left, taken *atomic.Int64
	// objects is how many objects of packs have been taken out of the budget.
	objects *atomic.Int64
	budget  *Budget
	// fetch is under way, or nil, and memory how much it takes to unpack objects. A pack that is refused is not unpacked.
	fetch   *fetch
	memory  int64
	refused atomic.Bool
}

func newQuota(files billy.Filesystem, limit int64, budget *Budget) *quota {
	q := &quota{Filesystem: files, max: limit, left: &atomic.Int64{}, taken: &atomic.Int64{}, objects: &atomic.Int64{}, budget: budget}
	q.left.Store(limit)
	return q
}

// remove removes the directory of a quota, and releases what its files have taken out of the budget when they are gone.
// If it cannot be removed now, removeRemaining tries again.
func (q *quota) remove(dir string) error {
	err := os.RemoveAll(dir)
	b := q.budget
	if b == nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.remaining[dir] = q
		return err
	}
	delete(b.remaining, dir)
	b.left.Add(q.taken.Swap(0))
	b.objects.left.Add(q.objects.Swap(0))
	return nil
}

// pack takes objects out of the budget, of a pack that declares so many, before go-git allocates memory for them: it
// resolves them at the end.
func (q *quota) pack(objects, declared int64) error {
	if q.budget == nil {
		return nil
	}
	if !q.budget.objects.take(objects, declared) {
		return ErrBudget
	}
	q.objects.Add(objects)
	return nil
}

// removeRemaining removes the directories that could not be removed before.
func (b *Budget) removeRemaining() {
	if b == nil {
		return
	}
	b.mu.Lock()
	remaining := maps.Clone(b.remaining)
	b.mu.Unlock()
	for dir, q := range remaining {
		_ = q.remove(dir) // It stays in the budget, and is tried again.
	}
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

// Read fails when a fetch ends early or its pack is refused, and so does unpacking, which reads each object.
func (f *quotaFile) Read(data []byte) (int, error) {
	if f.quota.refused.Load() {
		return 0, errRefused
	}
	if fetch := f.quota.fetch; fetch != nil && fetch.Err() != nil {
		return 0, context.Cause(fetch)
	}
	return f.File.Read(data)
}

// Write fails if the quota or the budget is exhausted.
func (f *quotaFile) Write(data []byte) (int, error) {
	bytes := int64(len(data))
	if f.quota.left.Add(-bytes) < 0 {
		return 0, fmt.Errorf("the repository is larger than %d MiB; split it, or set --max-repository-bytes of hns-sync", f.quota.max>>20)
	}
	if b := f.quota.budget; b != nil && !b.take(bytes, f.quota.taken.Load()+bytes) {
		return 0, ErrBudget
	}
	f.quota.taken.Add(bytes)
	return f.File.Write(data)
}
