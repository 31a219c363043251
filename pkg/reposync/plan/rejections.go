package plan

import (
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// A rejected object is written again after minWait, which doubles up to maxWait.
	minWait, maxWait = time.Second, 5 * time.Minute
	// maxAtOnce is how many rejected objects are written again at once with a new revision, which may contain what they
	// lack.
	maxAtOnce = 256
)

// Rejections are the objects that the API server has rejected. Its methods may be called concurrently.
type Rejections struct {
	mu       sync.Mutex
	rejected map[ID]rejection
}

type rejection struct {
	err   error
	hash  uint64
	until time.Time
	wait  time.Duration
}

// NewRejections returns none.
func NewRejections() *Rejections { return &Rejections{rejected: map[ID]rejection{}} }

// Wait returns the error of the last attempt to write an object, if it is as it was then and it is too early for
// another one.
func (r *Rejections) Wait(o *Object, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.rejected[o.ID]
	if last.hash != o.Hash || !now.Before(last.until) {
		return nil
	}
	return last.err
}

// Record records the result of writing an object.
func (r *Rejections) Record(o *Object, now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code < 400 || status.Status().Code >= 500 || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) {
		delete(r.rejected, o.ID)
		return
	}
	last, wait := r.rejected[o.ID], minWait
	if last.err != nil && last.hash == o.Hash {
		wait = min(2*last.wait, maxWait)
	}
	r.rejected[o.ID] = rejection{err, o.Hash, now.Add(wait), wait}
}

// Revise records that there is a new revision. Many rejected objects keep waiting, so that they do not hold up the
// others with each revision.
func (r *Rejections) Revise() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rejected) <= maxAtOnce {
		clear(r.rejected)
	}
}
