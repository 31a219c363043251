package mynamespace

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// store is what a reflector fills. It keeps nothing itself: what the picture needs of an object is little.
type store struct {
	example runtime.Object
	// reduce returns what is needed of an object of the API.
	reduce  cache.TransformFunc
	set     func(reduced any)
	remove  func(reduced any)
	replace func(reduced []any)
	// filled is closed once everything has been told.
	filled chan struct{}
	once   sync.Once
}

var _ cache.TransformingStore = &store{}

// contents is where a store passes on what it is told.
type contents[K comparable, V any] struct {
	set     func(K, V)
	remove  func(K)
	replace func(map[K]V)
}

// newStore returns a store of objects like example, of each of which key and value are kept.
func newStore[K comparable, V any](example runtime.Object, reduce func(obj any) (K, V), to contents[K, V]) *store {
	type entry struct {
		key   K
		value V
	}
	return &store{
		example: example,
		reduce: func(obj any) (any, error) {
			if e, ok := obj.(entry); ok {
				return e, nil
			}
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if _, ok := obj.(runtime.Object); !ok {
				return nil, fmt.Errorf("a %T is not an object", obj)
			}
			key, value := reduce(obj)
			return entry{key, value}, nil
		},
		set:    func(reduced any) { e := reduced.(entry); to.set(e.key, e.value) },
		remove: func(reduced any) { to.remove(reduced.(entry).key) },
		replace: func(reduced []any) {
			all := make(map[K]V, len(reduced))
			for _, r := range reduced {
				e := r.(entry)
				all[e.key] = e.value
			}
			to.replace(all)
		},
		filled: make(chan struct{}),
	}
}

// Transformer lets the reflector forget what is not needed while it still reads.
func (s *store) Transformer() cache.TransformFunc { return s.reduce }

// Add passes on a new object.
func (s *store) Add(obj any) error { return s.pass(obj, s.set) }

// Update passes on a changed object.
func (s *store) Update(obj any) error { return s.pass(obj, s.set) }

// Delete passes on that an object is gone.
func (s *store) Delete(obj any) error { return s.pass(obj, s.remove) }

func (s *store) pass(obj any, to func(any)) error {
	reduced, err := s.reduce(obj)
	if err == nil {
		to(reduced)
	}
	return err
}

// Replace passes on all objects that there are.
func (s *store) Replace(objects []any, _ string) error {
	reduced := make([]any, len(objects))
	for i, obj := range objects {
		var err error
		if reduced[i], err = s.reduce(obj); err != nil {
			return err
		}
	}
	s.replace(reduced)
	s.once.Do(func() { close(s.filled) })
	return nil
}

// Resync does nothing.
func (s *store) Resync() error { return nil }
