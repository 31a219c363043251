// Package fence lets a registry's write depend on more than the object that it writes. A registry attaches a Guard to
// the request's context: keys beside the objects, called edges here, that must be as the registry saw them, and edges
// that are written with the object. All of it is one etcd transaction. The package knows nothing of what edges mean.
package fence

import (
	"context"
	"errors"
	"maps"
	"sync"
)

// Guard is what a write demands and does beside writing its object.
type Guard struct {
	// Unchanged holds edges' names and the revisions of their last change, as their Reader returned them; 0 says that
	// there is no such edge. The write is refused with ErrLost unless all are still so.
	Unchanged map[string]int64
	// Put holds edges that are written together with the object.
	Put map[string][]byte
	// Delete holds the names of edges that are deleted together with it.
	Delete []string
	// Mark holds names whose mark gets a new revision with the write. A mark is a key beside the edges without a value. Writes that
	// set the same mark do not conflict with each other.
	Mark []string
	// Unmarked holds names and the revisions of their marks, as Edges.Mark returned them; 0 says that the name was never marked. The
	// write is refused with ErrLost unless all are still so.
	Unmarked map[string]int64
}

// ErrLost says that an edge of a write's Guard has changed since it was read. Nothing was written; the request must be
// judged again on edges that are read anew.
var ErrLost = errors.New("the tree changed while the request was judged")

type contextKey struct{}

type slot struct {
	mu    sync.Mutex
	guard *Guard
}

// NewContext returns a context for one write, in which its Guard can be Set.
func NewContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &slot{})
}

// Set attaches a guard to the write that is made with ctx, in place of an earlier one; nil detaches it. It fails when
// ctx does not descend from NewContext: such a write would go unguarded.
func Set(ctx context.Context, guard *Guard) error {
	s, ok := ctx.Value(contextKey{}).(*slot)
	if !ok {
		return errors.New("no fence in the context of a write to the tree")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard = guard
	return nil
}

// Demand adds edges that must be unchanged to the guard of the write that is made with ctx. An edge that is among them already must be as
// each has read it. It fails as Set does.
func Demand(ctx context.Context, unchanged map[string]int64) error {
	s, ok := ctx.Value(contextKey{}).(*slot)
	if !ok {
		return errors.New("no fence in the context of a write to the tree")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var guard Guard
	if s.guard != nil {
		guard = *s.guard
	}
	guard.Unchanged = maps.Clone(guard.Unchanged)
	if guard.Unchanged == nil {
		guard.Unchanged = map[string]int64{}
	}
	for edge, revision := range unchanged {
		// Of two revisions the older one is lost for sure.
		if known, ok := guard.Unchanged[edge]; !ok || revision < known {
			guard.Unchanged[edge] = revision
		}
	}
	s.guard = &guard
	return nil
}

func guardFrom(ctx context.Context) *Guard {
	s, ok := ctx.Value(contextKey{}).(*slot)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard
}
