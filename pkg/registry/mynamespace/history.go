package mynamespace

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/access"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// change is a change of a namespace, or of a subject's access to one.
type change struct {
	version int64
	// namespace is the changed namespace, or access.AllNamespaces.
	namespace string
	// subject is the subject whose access changed; without a name, the namespace itself changed.
	subject access.Subject
	gained  bool
	// before is the namespace before the change, nil if it was created.
	before *hnc.MyNamespace
}

func (c change) isAccessChange() bool { return c.subject.Name != "" }

// maxChanges is the minimum number of recorded changes. Copying a binding down a tree of 10 000 namespaces makes that
// many for each of its subjects.
const maxChanges = 1 << 16

// history holds the last changes. Each has a unique, increasing version.
type history struct {
	// oldest is the version before the first recorded change.
	oldest  int64
	changes []change
}

// randomBits is the random part of a version. It distinguishes versions of two replicas from the same microsecond,
// and versions still fit in an int64, as many clients assume.
const randomBits = 11

// newVersion returns a version greater than last that no other process has: the time in microseconds and random bits.
func newVersion(last int64) int64 {
	chance := rand.Int64N(1 << randomBits) //nolint:gosec // no secret
	return max(last+1, time.Now().UnixMicro()<<randomBits|chance)
}

func format(version int64) string { return strconv.FormatInt(version, 10) }

// reset drops all changes and invalidates all earlier versions.
func (h *history) reset() { h.oldest, h.changes = newVersion(h.latest()), nil }

// latest returns the latest version.
func (h *history) latest() int64 {
	if n := len(h.changes); n > 0 {
		return h.changes[n-1].version
	}
	return h.oldest
}

// add records a change and returns its version.
func (h *history) add(c change) int64 {
	if len(h.changes) >= 2*maxChanges {
		h.oldest = h.changes[maxChanges-1].version
		h.changes = slices.Clone(h.changes[maxChanges:])
	}
	c.version = newVersion(h.latest())
	h.changes = append(h.changes, c)
	return c.version
}

// since returns the changes after a version. Only versions that this process returned and still records are valid:
// any other is too old or from another process.
func (h *history) since(version int64) ([]change, bool) {
	if version == h.oldest {
		return h.changes, true
	}
	i, found := slices.BinarySearchFunc(h.changes, version, func(c change, version int64) int {
		switch {
		case c.version < version:
			return -1
		case c.version > version:
			return 1
		}
		return 0
	})
	if !found {
		return nil, false
	}
	return h.changes[i+1:], true
}
