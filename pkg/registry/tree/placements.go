package tree

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Placements evaluates moves that are committed after all of them are evaluated. All see one snapshot, in which the moves before them are made. The
// guard of each move compares the edges that the move has read.
//
// The lemma of the package holds for each transaction: a move compares the chain of its new parent, which contains edges that are unchanged, and edges
// that an earlier transaction writes.
type Placements struct {
	index *Index
	fresh bool
	// targets are the parents that the request gives to namespaces.
	targets map[string]string

	mu         sync.Mutex
	closed     bool
	edges      map[string]stored
	namespaces map[string]*corev1.Namespace
	// planned holds the edges as the moves so far leave them.
	planned map[string]edgeValue
	// use and children are what the moves so far bring below namespaces with quotas.
	use      map[string]ScopedUse
	children map[string]int64
}

// NewPlacements returns the evaluation of placements. With fresh it reads the store and the cluster instead of the caches; a rejection from
// the caches must be evaluated again that way.
func (m *Moves) NewPlacements(placements []forest.Placement, fresh bool) *Placements {
	p := &Placements{
		index: m.index, fresh: fresh, targets: make(map[string]string, len(placements)),
		edges: map[string]stored{}, namespaces: map[string]*corev1.Namespace{}, planned: map[string]edgeValue{},
		use: map[string]ScopedUse{}, children: map[string]int64{},
	}
	for _, placement := range placements {
		p.targets[placement.Name] = placement.Parent
	}
	return p
}

type placementsKey struct{}

// WithPlacements returns a context in which moves are evaluated as part of placements.
func WithPlacements(ctx context.Context, p *Placements) context.Context {
	return context.WithValue(ctx, placementsKey{}, p)
}

func placementsFrom(ctx context.Context) *Placements {
	p, _ := ctx.Value(placementsKey{}).(*Placements)
	return p
}

// InPlacements reports whether a request is part of placements.
func InPlacements(ctx context.Context) bool { return placementsFrom(ctx) != nil }

// Order returns the indexes of placements in the order in which they are to be evaluated and committed.
func (p *Placements) Order(ctx context.Context, placements []forest.Placement) ([]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.snapshot()
	parents := map[string]string{}
	for _, placement := range placements {
		for _, name := range []string{placement.Name, placement.Parent} {
			if err := s.addParents(ctx, parents, name); err != nil {
				return nil, err
			}
		}
	}
	return forest.Order(placements, func(name string) string { return parents[name] }), nil
}

// addParents adds the parents of a namespace and of its ancestors.
func (s *snapshot) addParents(ctx context.Context, parents map[string]string, name string) error {
	for name != "" {
		if _, known := parents[name]; known {
			return nil
		}
		e, err := s.edge(ctx, name)
		if err != nil {
			return err
		}
		parents[name] = e.Parent
		name = e.Parent
	}
	return nil
}

// Plan makes a move in the snapshot: the edges that its guard writes.
func (p *Placements) Plan(guard *fence.Guard) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if guard == nil {
		return nil
	}
	for name, value := range guard.Put {
		planned, err := decode(fence.Entry{Name: name, Value: value})
		if err != nil {
			return err
		}
		p.planned[name] = planned.edgeValue
	}
	for _, name := range guard.Delete {
		p.planned[name] = edgeValue{}
	}
	return nil
}

// Parents returns the parent of a namespace before the placements, and after the moves so far.
func (p *Placements) Parents(ctx context.Context, name string) (before, after string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, view := range []struct {
		*snapshot
		parent *string
	}{{p.snapshot().committed(), &before}, {p.snapshot(), &after}} {
		e, err := view.edge(ctx, name)
		if err != nil {
			return "", "", err
		}
		effective, err := view.effective(ctx, name, e)
		if err != nil {
			return "", "", err
		}
		if effective {
			*view.parent = e.Parent
		}
	}
	return before, after, nil
}

// Close ends the evaluation. Moves that are still evaluated in its context fail.
func (p *Placements) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

func (p *Placements) evaluate(ctx context.Context, rule func(*snapshot) (*fence.Guard, error)) (*fence.Guard, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fence.ErrLost
	}
	return p.snapshot().guard(ctx, rule)
}

// snapshot returns a snapshot of one evaluation. The caller holds the lock.
func (p *Placements) snapshot() *snapshot {
	s := newSnapshot(p.index, p.fresh)
	s.namespaces, s.placements = p.namespaces, p
	s.planned = p.planned
	return s
}

// committed returns the snapshot without the moves that are planned. What it reads is compared as well.
func (s *snapshot) committed() *snapshot {
	view := *s
	view.planned = nil
	return &view
}

// movesElsewhere reports whether the request gives a namespace another parent than the given one.
func (p *Placements) movesElsewhere(name, parent string) bool {
	if p == nil {
		return false
	}
	target, moved := p.targets[name]
	return moved && target != parent
}

// share adds edges that a move has read to those that all moves see.
func (p *Placements) share(edges map[string]stored) {
	for name, e := range edges {
		if _, known := p.edges[name]; !known {
			p.edges[name] = e
		}
	}
}

func (p *Placements) has(name string) bool {
	if p == nil {
		return false
	}
	_, known := p.edges[name]
	return known
}

// staying returns the nodes of a subtree that the request does not move out of it. Those that it moves are evaluated by their own moves.
func (p *Placements) staying(nodes []Node) []Node {
	if p == nil || len(nodes) < 2 {
		return nodes
	}
	left := map[string]bool{}
	stay := nodes[:1:1]
	for _, n := range nodes[1:] {
		if left[n.Parent] || p.movesElsewhere(n.Name, n.Parent) {
			left[n.Name] = true
			continue
		}
		stay = append(stay, n)
	}
	return stay
}
