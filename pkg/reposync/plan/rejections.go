package plan

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

const (
	// A rejected object is written again after minWait, which doubles up to maxWait.
	minWait, maxWait = time.Second, 5 * time.Minute
	// maxAtOnce is how many rejected objects are written again at once with a new revision, which may contain what they
	// lack.
	maxAtOnce = 256
	// maxFullMessages is how many rejected objects keep more of the message than its beginning.
	maxFullMessages = 10_000
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
	if !Rejected(err) || !errors.As(err, &status) {
		delete(r.rejected, o.ID)
		return
	}
	last, wait := r.rejected[o.ID], minWait
	if last.err != nil && last.hash == o.Hash {
		wait = min(2*last.wait, maxWait)
	}
	r.rejected[o.ID] = rejection{r.shorten(err, status.Status()), o.Hash, now.Add(wait), wait}
}

// Rejected reports whether an error is that of an API server which rejects what is written. Of other errors, such as
// conflicts and those of servers, another attempt may succeed.
func Rejected(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout
}

// shorten returns what is reported of an error, which may have megabytes of details about single fields.
func (r *Rejections) shorten(err error, status metav1.Status) error {
	text := names.ShortenText(err.Error())
	if len(r.rejected) >= maxFullMessages {
		text = names.Shorten(text)
	}
	short := metav1.Status{Status: metav1.StatusFailure, Code: status.Code, Reason: status.Reason, Message: text}
	if LacksPermission(err) {
		short.Details = withoutPermission // The shortened text may not say so.
	}
	return &apierrors.StatusError{ErrStatus: short}
}

const causePermission metav1.CauseType = "LacksPermission"

var withoutPermission = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: causePermission}}}

// LacksPermission reports whether the API server has rejected a write because the account lacks a permission. Quotas
// and admission policies reject for the same reason, with another text.
func LacksPermission(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return false
	}
	text := status.Status().Message
	return apierrors.HasStatusCause(err, causePermission) || strings.Contains(text, ": User ") && strings.Contains(text, " cannot ")
}

// Revise records that there is a new revision with these objects. Many rejected objects keep waiting, so that they do
// not hold up the others with each revision.
func (r *Rejections) Revise(desired []*Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := map[ID]rejection{}
	for _, o := range desired {
		if last, exists := r.rejected[o.ID]; exists {
			kept[o.ID] = last
		}
	}
	if len(kept) <= maxAtOnce {
		clear(kept)
	}
	r.rejected = kept
}
