package propagator

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// feed is the store that a reflector writes to: it converts objects to records, and enters them in the picture.
type feed[T any] struct {
	lock    sync.Locker
	logger  klog.Logger
	convert func(object any) (T, error)
	// current says whether what is fed is wanted any more; nil means always.
	current func() bool
	set     func(T)
	remove  func(T)
	// replace enters a whole list. What is known and not in it is gone, unless its version is newer than the list: then we have
	// written it ourselves meanwhile.
	replace func(list []T, newer func(resourceVersion string) bool)
	synced  func()
	// advance is told the version up to which the picture is complete; back, that a list is at a version before that.
	advance func(resourceVersion string)
	back    func(resourceVersion string) bool
}

var _ cache.TransformingStore = (*feed[*tree.Namespace])(nil)

// record converts an object unless a reflector's temporary store has done so. An object that can't be converted is left out.
func (f *feed[T]) record(object any) (T, bool) {
	record, ok := object.(T)
	if !ok {
		var err error
		if record, err = f.convert(object); err != nil {
			f.logger.Error(err, "Ignoring an object that can't be read")
			return record, false
		}
	}
	return record, true
}

// Transformer lets a reflector keep records instead of objects while it collects a list.
func (f *feed[T]) Transformer() cache.TransformFunc {
	return func(object any) (any, error) {
		if _, ok := object.(T); ok {
			return object, nil
		}
		return f.convert(object)
	}
}

func (f *feed[T]) Add(object any) error { return f.Update(object) }

func (f *feed[T]) Update(object any) error {
	if record, ok := f.record(object); ok {
		f.lock.Lock()
		defer f.lock.Unlock()
		if f.outdated() {
			return nil
		}
		f.set(record)
		return f.seen(object)
	}
	return nil
}

func (f *feed[T]) Delete(object any) error {
	if record, ok := f.record(object); ok {
		f.lock.Lock()
		defer f.lock.Unlock()
		if f.outdated() {
			return nil
		}
		f.remove(record)
		return f.seen(object)
	}
	return nil
}

func (f *feed[T]) Replace(objects []any, resourceVersion string) error {
	records := make([]T, 0, len(objects))
	for _, object := range objects {
		if record, ok := f.record(object); ok {
			records = append(records, record)
		}
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.outdated() {
		return nil
	}
	if f.back(resourceVersion) {
		// Lists are never older than what a watch has brought, so the server has lost its history, and versions
		// that we know mean nothing any more.
		f.logger.Info("The versions of the API server have gone back; starting from its present state", "resourceVersion", resourceVersion)
		f.replace(nil, func(string) bool { return false })
	}
	f.replace(records, func(known string) bool { return tree.Newer(known, resourceVersion) })
	f.advance(resourceVersion)
	f.synced()
	return nil
}

// outdated says that nobody wants to know any more. The lock must be held.
func (f *feed[T]) outdated() bool { return f.current != nil && !f.current() }

func (f *feed[T]) seen(object any) error {
	m, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	f.advance(m.GetResourceVersion())
	return nil
}

func (f *feed[T]) Resync() error { return nil }
