package mynamespace

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/access"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// change is one change of what somebody sees: of a namespace, or of a subject's right to get one.
type change struct {
	version int64
	// namespace is the one that it is about, or access.Everywhere.
	namespace string
	// subject is whose right changed; without a name, the namespace itself changed.
	subject access.Subject
	gained  bool
	// before is a changed namespace before the change, nil if there was none.
	before *hnc.MyNamespace
}

func (c change) ofRights() bool { return c.subject.Name != "" }

// maxChanges is how many changes are remembered at least. Copying a binding down a tree of 10 000 namespaces is as many, for each
// of its subjects.
const maxChanges = 1 << 16

// history is the last changes. Each has a version of its own, greater than those before it.
type history struct {
	// oldest is the version before the first change that is remembered.
	oldest  int64
	changes []change
}

// randomBits is how much of a version is random: enough to tell those of two replicas that see one thing in the same
// microsecond, and so little that a version still fits in an int64, which more clients understand than should.
const randomBits = 11

// newVersion returns a version greater than last that no other process has: the time in microseconds, and chance.
func newVersion(last int64) int64 {
	chance := rand.Int64N(1 << randomBits) //nolint:gosec // no secret
	return max(last+1, time.Now().UnixMicro()<<randomBits|chance)
}

func format(version int64) string { return strconv.FormatInt(version, 10) }

// start forgets everything, so that no version from before is known.
func (h *history) start() { h.oldest, h.changes = newVersion(h.latest()), nil }

// latest returns the version of now.
func (h *history) latest() int64 {
	if n := len(h.changes); n > 0 {
		return h.changes[n-1].version
	}
	return h.oldest
}

// add remembers a change and returns its version.
func (h *history) add(c change) int64 {
	if len(h.changes) >= 2*maxChanges {
		h.oldest = h.changes[maxChanges-1].version
		h.changes = slices.Clone(h.changes[maxChanges:])
	}
	c.version = newVersion(h.latest())
	h.changes = append(h.changes, c)
	return c.version
}

// since returns the changes after a version. It does so only for the very versions that this process gave out and still
// remembers: any other is another process's, or too old.
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
