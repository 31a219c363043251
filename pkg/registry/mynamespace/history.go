package mynamespace

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

// change is a change of a namespace, or of the access of a binding's subjects to one.
type change struct {
	version int64
	// namespace is the changed namespace, or rbacindex.AllNamespaces.
	namespace string
	// subjects are those whose access changed; if there are none, the namespace itself changed.
	subjects subjectSet
	gained   bool
	// before is the namespace before the change, nil if it was created.
	before *hnc.MyNamespace
}

func (c change) isAccessChange() bool { return len(c.subjects) > 0 }

// subjectSet holds the sorted hashes of subjects. A change of a role may concern hundreds of thousands, with long
// names.
type subjectSet []uint64

var subjectSeed = maphash.MakeSeed()

func hashOf(s rbacindex.Subject) uint64 { return maphash.Comparable(subjectSeed, s) }

func newSubjectSet(subjects []rbacindex.Subject) subjectSet {
	set := make(subjectSet, len(subjects))
	for i, s := range subjects {
		set[i] = hashOf(s)
	}
	slices.Sort(set)
	return set
}

// has reports whether the set has the subject with a hash.
func (s subjectSet) has(hash uint64) bool {
	_, found := slices.BinarySearch(s, hash)
	return found
}

// maxChanges is the minimum number of recorded changes, unless they are large. Copying a binding down a tree of 10 000
// namespaces makes that many.
const maxChanges = 1 << 16

// maxBytes is the maximum size of the recorded changes, because bindings may have tens of thousands of subjects, and
// labels of a namespace more than a megabyte. Usually, 2*maxChanges have less.
const maxBytes = 64 << 20

// changeSize is the size of a change without subjects, names and labels.
const changeSize = 100

// size returns the approximate number of bytes that only the change keeps in memory.
func (c change) size() int {
	n := changeSize + len(c.namespace) + 8*len(c.subjects)
	if c.before != nil {
		for key, value := range c.before.Labels {
			n += len(key) + len(value)
		}
	}
	return n
}

// history holds the last changes. Each has a unique, increasing version.
type history struct {
	// oldest is the version before the first recorded change.
	oldest  int64
	changes []change
	// bytes is the size of the changes.
	bytes int
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
func (h *history) reset() { h.oldest, h.changes, h.bytes = newVersion(h.latest()), nil, 0 }

// latest returns the latest version.
func (h *history) latest() int64 {
	if n := len(h.changes); n > 0 {
		return h.changes[n-1].version
	}
	return h.oldest
}

// add records a change and returns its version.
func (h *history) add(c change) int64 {
	h.bytes += c.size()
	if len(h.changes) >= 2*maxChanges || h.bytes > maxBytes {
		h.drop()
	}
	c.version = newVersion(h.latest())
	h.changes = append(h.changes, c)
	return c.version
}

// drop drops the oldest changes, until a half of both limits is free. Dropping them one by one would copy all for each.
func (h *history) drop() {
	n := 0
	for ; n < len(h.changes) && (len(h.changes)-n > maxChanges || h.bytes > maxBytes/2); n++ {
		h.oldest = h.changes[n].version
		h.bytes -= h.changes[n].size()
	}
	h.changes = slices.Clone(h.changes[n:])
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
