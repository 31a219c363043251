package reposync

import (
	"fmt"
	"sync"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// A value of a revision has up to valueBytes, a map with one key. An object of the cluster has about objectBytes in plans
// and in what is known of the cluster, besides its values.
const valueBytes, objectBytes = 336, 1536

// space is the memory that the revisions of all workers share, in bytes; half of it may be those of one account. A tenth is
// reserved for accounts whose revisions need an eighth of it at most: a few that take all they may must not keep all others out.
type space struct {
	total int64
	mu    sync.Mutex
	taken map[v1alpha3.ServiceAccountReference]int64
}

// newSpace returns half of the memory that the process may use. A quarter is for what replaces a revision, which exists
// beside it for a while, and the rest for what is fetched and parsed.
func newSpace(limit int64) *space {
	return &space{total: limit / 2, taken: map[v1alpha3.ServiceAccountReference]int64{}}
}

// share is what a revision takes of a space. Without one, it has no limit.
type share struct {
	of      *space
	account v1alpha3.ServiceAccountReference
	bytes   int64
	// keptSince is when its revision was last in force.
	keptSince time.Time
}

// take changes the bytes of a revision, which is to replace one with an earlier share if that is not nil. It returns an
// error, and changes nothing, if that is more than either has already, and other revisions leave no space for it.
func (s *share) take(bytes int64, earlier *share) *report.Error {
	if s.of == nil {
		return nil
	}
	had, others := s.bytes, -s.bytes
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	for _, taken := range s.of.taken {
		others += taken
	}
	own := s.of.taken[s.account] - s.bytes
	replaced := int64(0)
	if earlier != nil && earlier != s {
		replaced = earlier.bytes
	}
	limit, reserve := s.of.total, s.of.total/10
	if own-replaced+bytes > reserve/8 {
		limit -= reserve
	}
	switch grows := bytes > max(had, replaced); {
	case grows && own-replaced+bytes > s.of.total/2:
		return noSpace(bytes, fmt.Sprintf("all repositories of its ServiceAccount may take %d MiB", s.of.total/2>>20))
	case grows && others-replaced+bytes > limit, others+bytes > s.of.total+s.of.total/2:
		return noSpace(bytes, fmt.Sprintf("other repositories leave less of the %d MiB that all large ones may take", (s.of.total-reserve)>>20))
	}
	s.of.taken[s.account] = own + bytes
	if own+bytes == 0 {
		delete(s.of.taken, s.account)
	}
	s.bytes = bytes
	return nil
}

// release returns what has been taken.
func (s *share) release() { _ = s.take(0, nil) }

func noSpace(bytes int64, limit string) *report.Error {
	return &report.Error{
		Code: report.LimitExceeded, Paths: []string{"."},
		Message: fmt.Sprintf("the repository takes %d MiB of the memory of hns-sync, and %s; split it, or raise the memory limit of hns-sync; it is tried again", bytes>>20, limit),
	}
}
