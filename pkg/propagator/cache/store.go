package cache

import (
	"iter"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// store is what a reflector writes to: it converts objects to records, and enters them in the state.
type store[T any] struct {
	cache   *Cache
	logger  klog.Logger
	convert func(object any) (T, error)
	// current reports whether the objects are still wanted; nil means always.
	current func() bool
	set     func(T)
	remove  func(T)
	// known returns the records of the state, nil if it keeps none. Those that a list lacks are removed.
	known func() iter.Seq[T]
	// identify returns the name of a record, and its version.
	identify func(T) (name types.NamespacedName, version string)
	// synced is called when a list is complete.
	synced func()
	// resource names the versions of the state.
	resource string
}

var _ cache.TransformingStore = (*store[*tree.Namespace])(nil)

// record converts an object unless a reflector's temporary store has done so. Objects that can't be converted are left
// out.
func (s *store[T]) record(object any) (T, bool) {
	record, ok := object.(T)
	if !ok {
		var err error
		if record, err = s.convert(object); err != nil {
			s.logger.Error(err, "Ignoring an object that cannot be converted")
			return record, false
		}
	}
	return record, true
}

// Transformer lets a reflector keep records instead of objects while it collects a list.
func (s *store[T]) Transformer() cache.TransformFunc {
	return func(object any) (any, error) {
		if _, ok := object.(T); ok {
			return object, nil
		}
		return s.convert(object)
	}
}

func (s *store[T]) Add(object any) error { return s.Update(object) }

func (s *store[T]) Update(object any) error {
	if record, ok := s.record(object); ok {
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
		if s.outdated() {
			return nil
		}
		s.set(record)
		return s.observed(object)
	}
	return nil
}

func (s *store[T]) Delete(object any) error {
	if record, ok := s.record(object); ok {
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
		if s.outdated() {
			return nil
		}
		s.remove(record)
		return s.observed(object)
	}
	return nil
}

func (s *store[T]) Replace(objects []any, resourceVersion string) error {
	records := make([]T, 0, len(objects))
	for _, object := range objects {
		if record, ok := s.record(object); ok {
			records = append(records, record)
		}
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.outdated() {
		return nil
	}
	if s.cache.state.versions.rewind(s.resource, resourceVersion) {
		// Lists are never older than what a watch has brought, so the server has lost its history, and known versions
		// mean nothing.
		s.logger.Info("The resource versions of the API server have gone back; the cache is rebuilt from a list", "resourceVersion", resourceVersion)
		s.enter(nil, func(string) bool { return false })
	}
	s.enter(records, func(known string) bool { return tree.Newer(known, resourceVersion) })
	s.cache.state.versions.advance(s.resource, resourceVersion)
	s.synced()
	return nil
}

// enter enters a whole list. Records that it lacks are gone, unless they are newer: these are results of our own
// writes.
func (s *store[T]) enter(list []T, newer func(version string) bool) {
	// Of the first list, which is the longest, nothing can be missing.
	var listed sets.Set[types.NamespacedName]
	if s.known != nil {
		for range s.known() {
			listed = make(sets.Set[types.NamespacedName], len(list))
			break
		}
	}
	for _, record := range list {
		if listed != nil {
			name, _ := s.identify(record)
			listed.Insert(name)
		}
		s.set(record)
	}
	if listed == nil {
		return
	}
	var gone []T
	for record := range s.known() {
		if name, version := s.identify(record); !listed.Has(name) && !newer(version) {
			gone = append(gone, record)
		}
	}
	for _, record := range gone {
		s.remove(record)
	}
}

// outdated reports that the objects are not wanted any more. The cache must be locked.
func (s *store[T]) outdated() bool { return s.current != nil && !s.current() }

func (s *store[T]) observed(object any) error {
	m, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	s.cache.state.versions.advance(s.resource, m.GetResourceVersion())
	return nil
}

func (s *store[T]) Resync() error { return nil }
