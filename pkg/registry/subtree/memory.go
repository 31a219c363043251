package subtree

import (
	"fmt"
	"io"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxListMemory bounds the bytes of objects that one request reads at a time, and all requests of one user;
	// maxListsMemory those of all requests. Those in one tree have three quarters: more than one user.
	// Decoding and encoding them needs up to three times as much, of 1 GiB that the container may use by default.
	maxListMemory  = 64 << 20
	maxListsMemory = 128 << 20
)

var errTooLarge = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
	"the objects of the subtree have more than %d MiB; set limit, which is --chunk-size of kubectl, to list them in pages", maxListMemory>>20))

// memory counts the bytes of objects that are read from kube-apiserver and not yet sent.
type memory struct {
	// each is what a request may use, and what a user may use of total. A tree may use three quarters of it.
	each, total int64

	mu           sync.Mutex
	used         int64
	users, trees map[string]int64
}

func newMemory(each, total int64) *memory {
	return &memory{each: each, total: total, users: map[string]int64{}, trees: map[string]int64{}}
}

// share is what one request of a user in the tree of a root uses of a memory. It is safe for concurrent use.
type share struct {
	*memory
	user, root string
	taken      int64
}

func (m *memory) share(user, root string) *share { return &share{memory: m, user: user, root: root} }

// take takes n bytes. It fails with errTooLarge, or with TooManyRequests if other requests use the memory.
func (s *share) take(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken+n > s.each:
		return errTooLarge
	case s.used+n > s.total, s.users[s.user]+n > s.each, s.trees[s.root]+n > max(s.each, s.total/4*3):
		return apierrors.NewTooManyRequests("other lists across subtrees use the memory of this server, this tree or this user; try again later", 1)
	}
	s.add(n)
	return nil
}

// bytes returns how many bytes are taken.
func (s *share) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// giveBack gives bytes back until only the given number is taken.
func (s *share) giveBack(to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(to - s.taken)
}

func (s *share) add(n int64) {
	s.taken += n
	s.used += n
	add(s.users, s.user, n)
	add(s.trees, s.root, n)
}

func add(used map[string]int64, key string, n int64) {
	if used[key] += n; used[key] == 0 {
		delete(used, key)
	}
}

// reader returns a reader that takes the bytes that it reads.
func (s *share) reader(r io.Reader) io.Reader { return takingReader{r, s} }

type takingReader struct {
	io.Reader
	share *share
}

func (r takingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if taken := r.share.take(int64(n)); taken != nil {
		return 0, taken
	}
	return n, err
}
