package mynamespace

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// store is a reflector's store. It holds nothing: it reduces objects to small records and passes these to a handler. An
// informer would keep all roles and bindings of the cluster in memory.
type store[R any] struct {
	example runtime.Object
	recordHandler[R]
	// filled is closed after the initial list.
	filled chan struct{}
	once   sync.Once
}

var (
	_ cache.TransformingStore      = &store[struct{}]{}
	_ cache.ReflectorBookmarkStore = &store[struct{}]{}
)

// recordHandler creates and handles the records of a store.
type recordHandler[R any] struct {
	reduce      func(obj any) *R
	set, remove func(*R)
	replace     func(all []*R)
	// heard is called when there is nothing new.
	heard func()
}

// recordStore is a store of any type of record.
type recordStore interface {
	cache.TransformingStore
	// exampleObject returns an object of the store's type.
	exampleObject() runtime.Object
	// synced is closed after the initial list.
	synced() <-chan struct{}
}

func newStore[R any](example runtime.Object, of recordHandler[R]) *store[R] {
	return &store[R]{example: example, recordHandler: of, filled: make(chan struct{})}
}

func (s *store[R]) exampleObject() runtime.Object { return s.example }
func (s *store[R]) synced() <-chan struct{}       { return s.filled }

// Transformer lets the reflector reduce objects while it reads a list.
func (s *store[R]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return s.record(obj) }
}

func (s *store[R]) record(obj any) (*R, error) {
	if r, ok := obj.(*R); ok {
		return r, nil
	}
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if _, ok := obj.(runtime.Object); !ok {
		return nil, fmt.Errorf("a %T is not an object", obj)
	}
	return s.reduce(obj), nil
}

// Add handles a new object.
func (s *store[R]) Add(obj any) error { return s.apply(obj, s.set) }

// Update handles a changed object.
func (s *store[R]) Update(obj any) error { return s.apply(obj, s.set) }

// Delete handles a deleted object.
func (s *store[R]) Delete(obj any) error { return s.apply(obj, s.remove) }

func (s *store[R]) apply(obj any, to func(*R)) error {
	r, err := s.record(obj)
	if err == nil {
		to(r)
	}
	return err
}

// Replace handles the complete list of objects.
func (s *store[R]) Replace(objects []any, _ string) error {
	all := make([]*R, len(objects))
	for i, obj := range objects {
		var err error
		if all[i], err = s.record(obj); err != nil {
			return err
		}
	}
	s.replace(all)
	s.once.Do(func() { close(s.filled) })
	return nil
}

// Resync does nothing.
func (s *store[R]) Resync() error { return nil }

// Bookmark notes that there was no change until a revision.
func (s *store[R]) Bookmark(string) error {
	s.heard()
	return nil
}
