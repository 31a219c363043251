package git

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// maxCachedEntries limits the entries of the trees in memory: about 100 MiB.
const maxCachedEntries = 500_000

// trees reads trees, and keeps those that were read last. A tree may be reachable by any number of paths, so they are
// kept by hash.
type trees struct {
	objects storer.EncodedObjectStorer
	read    map[plumbing.Hash][]object.TreeEntry
	// order are the trees in the order in which they were read, entries is how many entries they have.
	order   []plumbing.Hash
	entries int
}

func newTrees(objects storer.EncodedObjectStorer) *trees {
	return &trees{objects: objects, read: map[plumbing.Hash][]object.TreeEntry{}}
}

// get returns the entries of a tree by name, and whether they were kept. They must not be changed.
func (t *trees) get(hash plumbing.Hash) (entries []object.TreeEntry, kept bool, err error) {
	if entries, ok := t.read[hash]; ok {
		return entries, true, nil
	}
	tree, err := object.GetTree(t.objects, hash)
	if err != nil {
		return nil, false, err
	}
	entries = tree.Entries
	slices.SortStableFunc(entries, func(a, b object.TreeEntry) int { return strings.Compare(a.Name, b.Name) })
	for len(t.order) > 0 && t.entries+len(entries) > maxCachedEntries {
		oldest := t.order[0]
		t.order = t.order[1:]
		t.entries -= len(t.read[oldest])
		delete(t.read, oldest)
	}
	t.read[hash] = entries
	t.order = append(t.order, hash)
	t.entries += len(entries)
	return entries, false, nil
}
