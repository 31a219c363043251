package mynamespace

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// store is what a reflector fills. It keeps nothing itself: what the picture needs of an object is a record, and little.
type store[R any] struct {
	example runtime.Object
	contents[R]
	// filled is closed once everything has been told.
	filled chan struct{}
	once   sync.Once
}

var _ cache.TransformingStore = &store[struct{}]{}

// contents is how a store makes records of objects like its example, and where it passes them on.
type contents[R any] struct {
	reduce      func(obj any) *R
	set, remove func(*R)
	replace     func(all []*R)
}

// source is a store, whatever its records.
type source interface {
	cache.TransformingStore
	// of returns an object like those that the store is about.
	of() runtime.Object
	// told is closed once everything has been told.
	told() <-chan struct{}
}

func newStore[R any](example runtime.Object, of contents[R]) *store[R] {
	return &store[R]{example: example, contents: of, filled: make(chan struct{})}
}

func (s *store[R]) of() runtime.Object    { return s.example }
func (s *store[R]) told() <-chan struct{} { return s.filled }

// Transformer lets the reflector forget what is not needed while it still reads.
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

// Add passes on a new object.
func (s *store[R]) Add(obj any) error { return s.pass(obj, s.set) }

// Update passes on a changed object.
func (s *store[R]) Update(obj any) error { return s.pass(obj, s.set) }

// Delete passes on that an object is gone.
func (s *store[R]) Delete(obj any) error { return s.pass(obj, s.remove) }

func (s *store[R]) pass(obj any, to func(*R)) error {
	r, err := s.record(obj)
	if err == nil {
		to(r)
	}
	return err
}

// Replace passes on all objects that there are.
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
