package git

import (
	"cmp"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxUnpacked is how much memory go-git may take to unpack the objects of a pack, enough for deltas of the largest objects.
// Those that take more than freeUnpacked are unpacked in turn, so that others do not delay ordinary repositories.
const (
	maxUnpacked  = 448 << 20
	freeUnpacked = 4 << 20
)

// unpacking is how much memory go-git takes to unpack the objects of a pack. To unpack a delta, it holds the object that this
// applies to, which may be a delta itself, and so on. It keeps the latest objects that deltas apply to, of
// cache.DefaultMaxSize, and holds less then, but the author of a pack decides which it still has.
type unpacking struct {
	// objects are those of the pack, by their offset.
	objects []packed
	largest int64
	// longest is the most that is held for one delta, deltas the size of all deltas and their results, and bases that of the
	// objects that they apply to. named is true if one names that by hash: it may be any.
	longest, deltas, bases int64
	named                  bool
}

// packed is an object of a pack: its offset and size when unpacked, what is held to unpack it, and whether others apply to
// it.
type packed struct {
	offset     int64
	size, held int32
	base       bool
}

// add adds an object as it is stored.
func (u *unpacking) add(header *packfile.ObjectHeader) {
	u.largest = max(u.largest, header.Length)
	size := int32(header.Length) //nolint:gosec // at most maxObject
	u.objects = append(u.objects, packed{offset: header.Offset, size: size, held: size})
}

// addDelta adds that the object that was added last is a delta, with the size of the object that it applies to, and of the
// result.
func (u *unpacking) addDelta(header *packfile.ObjectHeader, base, result int64) {
	u.largest = max(u.largest, base, result)
	u.deltas += header.Length + result
	own := &u.objects[len(u.objects)-1]
	own.size = int32(result) //nolint:gosec // at most maxObject
	if header.Type == plumbing.REFDeltaObject {
		u.named = true
		u.bases += base
		return
	}
	at, found := slices.BinarySearchFunc(u.objects, header.OffsetReference, func(o packed, offset int64) int { return cmp.Compare(o.offset, offset) })
	if !found {
		return // go-git rejects it.
	}
	of := &u.objects[at]
	if !of.base {
		of.base = true
		u.bases += int64(of.size)
	}
	held := min(int64(of.held)+header.Length+result, 2*maxUnpacked)
	own.held = int32(held) //nolint:gosec // at most 2*maxUnpacked
	u.longest = max(u.longest, held)
}

// memory returns how much it takes. Buffers for an object and the one that it applies to grow to twice their size, and an
// object is copied to be kept, before others are dropped for it.
func (u *unpacking) memory() int64 {
	held := u.longest
	if u.named {
		held = u.deltas + u.largest
	}
	return held + min(u.bases, int64(cache.DefaultMaxSize)+u.largest) + 2*u.largest
}
