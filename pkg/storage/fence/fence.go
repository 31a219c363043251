// Package fence makes a registry's write depend on more than the object that it writes. A registry attaches a Guard to
// the context of the write: keys beside the objects, called edges, that must be as the registry has read them, and
// edges that are written with the object. All of it is one etcd transaction, the fence. The package does not interpret
// edges.
package fence

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Guard lists the edges and marks that a write compares and writes beside its object.
type Guard struct {
	// Unchanged holds names of edges and the revisions of their last change, as Edges returned them; 0 stands for an
	// edge that does not exist. The write fails with ErrLost unless they are unchanged.
	Unchanged map[string]int64
	// Put holds edges that are written along with the object.
	Put map[string][]byte
	// Delete holds the names of edges that are deleted along with the object.
	Delete []string
	// Mark holds names whose mark gets a new revision with the write. A mark is a key beside the edges without a value.
	// Writes that set the same mark do not conflict with each other.
	Mark []string
	// Unmarked holds names and the revisions of their marks, as Edges.Mark returned them; 0 stands for a mark that does
	// not exist. The write fails with ErrLost unless they are unchanged.
	Unmarked map[string]int64
	// UnchangedRecords holds names of records and the revisions of their last change, as Records returned them; 0
	// stands for a record that does not exist. The write fails with ErrLost unless they are unchanged.
	UnchangedRecords map[string]int64
	// PutRecords holds records that are written along with the object. Writes of the same record do not conflict with
	// each other unless they also compare it.
	PutRecords map[string][]byte
	// DeleteRecords holds the names of records that are deleted along with the object.
	DeleteRecords []string
	// KeepsObject makes a deletion of the object fail with ErrLost, because it was evaluated as the beginning of one:
	// of an object with finalizers. These may have been added after the store had read the object.
	KeepsObject bool
}

// ErrLost is returned when an edge, mark or record of a Guard has changed since it was read. Nothing was written; the
// request must be evaluated again on fresh reads.
var ErrLost = errors.New("the tree changed while the request was evaluated")

var errNoFence = errors.New("no fence in the context of a write to the tree")

type contextKey struct{}

// holder holds the Guard of one write.
type holder struct {
	mu    sync.Mutex
	guard *Guard
}

// NewContext returns the context for one write, in which Set attaches its Guard.
func NewContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &holder{})
}

// Set attaches a guard to the write of a context, replacing an earlier one; nil detaches it. It fails without a context
// from NewContext, because such a write would be unguarded.
func Set(ctx context.Context, guard *Guard) error {
	h, ok := ctx.Value(contextKey{}).(*holder)
	if !ok {
		return errNoFence
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.guard = guard
	return nil
}

// Add adds edges that must be unchanged, and marks that get a new revision, to the guard of the write of a context. Of
// an edge that the guard contains already, it keeps the older revision. It fails as Set does.
func Add(ctx context.Context, more *Guard) error {
	h, ok := ctx.Value(contextKey{}).(*holder)
	if !ok {
		return errNoFence
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var guard Guard
	if h.guard != nil {
		guard = *h.guard
	}
	guard.Mark = slices.Concat(guard.Mark, more.Mark)
	guard.Unchanged = maps.Clone(guard.Unchanged)
	if guard.Unchanged == nil {
		guard.Unchanged = map[string]int64{}
	}
	for edge, revision := range more.Unchanged {
		// Of two different revisions, the older one loses the fence.
		if known, ok := guard.Unchanged[edge]; !ok || revision < known {
			guard.Unchanged[edge] = revision
		}
	}
	h.guard = &guard
	return nil
}

func guardFrom(ctx context.Context) *Guard {
	h, ok := ctx.Value(contextKey{}).(*holder)
	if !ok {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.guard
}
