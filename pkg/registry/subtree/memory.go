package subtree

import (
	"fmt"
	"io"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxListMemory bounds the bytes of objects that one request reads at a time, maxListsMemory those of all requests.
	// Decoding and encoding them needs up to three times as much, of 1 GiB that the container may use by default.
	maxListMemory  = 64 << 20
	maxListsMemory = 128 << 20
	// smallPage is a number of objects that does not exceed maxListMemory, because etcd's objects have 1.5 MiB at most.
	smallPage = 16
)

var errTooLarge = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
	"the objects of the subtree have more than %d MiB; set limit, which is --chunk-size of kubectl, to list them in pages", maxListMemory>>20))

// memory counts the bytes of objects that are read from kube-apiserver and not yet sent.
type memory struct {
	each, total int64
	used        atomic.Int64
}

// share is what one request uses of a memory. It is safe for concurrent use, except for giveBack.
type share struct {
	*memory
	taken atomic.Int64
}

func (m *memory) share() *share { return &share{memory: m} }

// take takes n bytes. It fails with errTooLarge, or with TooManyRequests if other requests use the memory.
func (s *share) take(n int64) error {
	switch {
	case s.taken.Load()+n > s.each:
		return errTooLarge
	case s.used.Load()+n > s.total:
		return apierrors.NewTooManyRequests("other lists across subtrees use the memory of this server; try again later", 1)
	}
	s.taken.Add(n)
	s.used.Add(n)
	return nil
}

// giveBack gives bytes back until only the given number is taken.
func (s *share) giveBack(to int64) {
	n := s.taken.Load() - to
	s.taken.Add(-n)
	s.used.Add(-n)
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
