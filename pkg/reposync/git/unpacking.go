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
	// maxDepth is how many deltas may lead to an object for go-git to unpack it.
	maxDepth = 4095
)

// unpacking is how much memory go-git takes to unpack the objects of a pack. To unpack a delta, it holds the object that this
// applies to, which may be a delta itself, and so on, up to one that it has kept: it keeps the latest objects that deltas
// apply to, of cache.DefaultMaxSize. To read one, it holds all deltas that lead to it.
type unpacking struct {
	// objects are those of the pack, by their offset.
	objects []packed
	largest int64
	// deltas is the size of all deltas and their results, and bases that of the objects that they apply to. named is true if one
	// names that by hash: it may be any.
	deltas, bases int64
	named         bool
}

// packed is an object of a pack: its offset and size when unpacked, the index of the object that it applies to, or -1, and the
// size of all deltas that lead to it. If others apply to it, it is a base, kept after as many bytes of others.
type packed struct {
	offset, kept       int64
	size, leading, via int32
	base               bool
}

// add adds an object as it is stored.
func (u *unpacking) add(header *packfile.ObjectHeader) {
	u.largest = max(u.largest, header.Length)
	u.objects = append(u.objects, packed{offset: header.Offset, size: int32(header.Length), via: -1}) //nolint:gosec // at most maxObject
}

// addDelta adds that the object that was added last is a delta, with the size of the object that it applies to, and of the
// result.
func (u *unpacking) addDelta(header *packfile.ObjectHeader, base, result int64) {
	u.largest = max(u.largest, base, result)
	u.deltas += header.Length + result
	u.bases += base
	own := &u.objects[len(u.objects)-1]
	own.size, own.leading = int32(result), int32(header.Length) //nolint:gosec // at most maxObject
	if header.Type == plumbing.REFDeltaObject {
		u.named = true
		return
	}
	at, found := slices.BinarySearchFunc(u.objects, header.OffsetReference, func(o packed, offset int64) int { return cmp.Compare(o.offset, offset) })
	if found {
		u.objects[at].base = true
		own.via, own.leading = int32(at), int32(min(header.Length+int64(u.objects[at].leading), 2*maxUnpacked)) //nolint:gosec // at most maxPackObjects
	}
}

// memory returns how much it takes. Buffers for an object and the one that it applies to grow to twice their size, and an
// object is copied to be kept, before others are dropped for it. It stops counting when it is too much.
func (u *unpacking) memory() int64 {
	const keeps = int64(cache.DefaultMaxSize)
	switch buffers := 2 * u.largest; {
	case u.deltas == 0:
		return buffers
	case u.named:
		return u.deltas + u.largest + min(u.bases, keeps+u.largest) + buffers
	default:
		longest, kept := u.longest(keeps)
		return longest + min(kept, keeps+u.largest) + buffers
	}
}

// longest returns how much is held for one object at most, when so many bytes are kept of others, and how much those are if
// none is dropped.
func (u *unpacking) longest(keeps int64) (longest, kept int64) {
	for i := range u.objects {
		held, before := int64(u.objects[i].leading), kept
		for at, depth := i, 0; at >= 0 && depth <= maxDepth; at, depth = int(u.objects[at].via), depth+1 {
			o := &u.objects[at]
			held += int64(o.size)
			if at < i && before-o.kept <= keeps {
				break
			}
			if o.base {
				o.kept = kept
				kept += int64(o.size)
			}
		}
		if longest = max(longest, held); longest > maxUnpacked {
			break
		}
	}
	return longest, kept
}
