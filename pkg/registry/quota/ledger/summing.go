package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// summing are the operations that have to sum up records of use. Trees take turns: whoever changes a tree all the time,
// so that its sums are lost, does not keep others from theirs.
type summing struct {
	// waiting are in the order of their turns.
	waiting []*operation
}

// take moves operations that have to sum up records here, and returns the others.
func (s *summing) take(operations []*operation) (others []*operation) {
	for _, o := range operations {
		if o.sums {
			s.waiting = append(s.waiting, o)
		} else {
			others = append(others, o)
		}
	}
	return others
}

// next returns the operation whose turn it is, nil if nobody waits for any.
func (s *summing) next() *operation {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *operation) bool { return o.left.Load() })
	if len(s.waiting) == 0 {
		return nil
	}
	o := s.waiting[0]
	var same, others []*operation
	for _, waiting := range s.waiting[1:] {
		if waiting.root == o.root {
			same = append(same, waiting)
		} else {
			others = append(others, waiting)
		}
	}
	s.waiting = slices.Concat(others, same)
	return o
}

// of returns the operations of a tree, which need no sums of their own if they need those that have been recorded.
func (s *summing) of(root string) (operations []*operation) {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *operation) bool {
		if o.root != root {
			return false
		}
		o.sums = false
		operations = append(operations, o)
		return true
	})
	return operations
}

// sum tries an operation once, and reports whether it has a result. It has none if its tree has changed meanwhile.
func (l *Ledger) sum(ctx context.Context, o *operation) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := time.Now()
	alone := []*operation{o}
	results, err := l.try(ctx, alone, true)
	switch {
	case err == nil:
		answer(alone, results, start)
	case errors.Is(err, fence.ErrLost) && ctx.Err() == nil:
		return false
	default:
		fail(ctx, alone, err)
	}
	return true
}
