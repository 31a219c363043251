package git

import (
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxUnpacked is how much memory go-git may take to unpack the objects of a pack. Those that take more than freeUnpacked
// are unpacked in turn, so that others do not delay ordinary repositories.
const (
	maxUnpacked  = 384 << 20
	freeUnpacked = 4 << 20
)

// unpacking is how much memory go-git takes to unpack the objects of a pack. For a delta it holds the object that this
// applies to, which may be a delta itself, and so on; and it keeps objects that deltas apply to.
type unpacking struct {
	largest int64
	// chains are the bytes that are held for a delta, by its offset, and longest is the most of any.
	chains  map[int64]int64
	longest int64
	// bases are the offsets of objects that deltas apply to, and kept is their size.
	bases map[int64]bool
	kept  int64
	// deltas is the size of all deltas and their results, and named is true if one names its object by hash: that may be
	// any.
	deltas int64
	named  bool
}

func newUnpacking() *unpacking {
	return &unpacking{chains: map[int64]int64{}, bases: map[int64]bool{}}
}

// add adds an object as it is stored.
func (u *unpacking) add(size int64) { u.largest = max(u.largest, size) }

// addDelta adds that a stored object is a delta, with the size of the object that it applies to, and of the result.
func (u *unpacking) addDelta(header *packfile.ObjectHeader, base, result int64) {
	u.largest = max(u.largest, base, result)
	u.deltas += header.Length + result
	named := header.Type == plumbing.REFDeltaObject
	u.named = u.named || named
	chain, isDelta := u.chains[header.OffsetReference]
	if !isDelta {
		chain = base
	}
	chain += header.Length + result
	u.chains[header.Offset] = chain
	u.longest = max(u.longest, chain)
	if named || !u.bases[header.OffsetReference] {
		u.bases[header.OffsetReference] = true
		u.kept += base
	}
}

// memory returns how much it takes. An object that deltas apply to is copied to be kept, before others are dropped for it.
func (u *unpacking) memory() int64 {
	chain := u.longest
	if u.named {
		chain = u.deltas + u.largest
	}
	return max(chain+min(u.kept, int64(cache.DefaultMaxSize)+u.largest), 2*u.largest)
}
