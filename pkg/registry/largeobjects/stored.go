package largeobjects

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/storewatch"
)

// stored holds the sizes of the objects of the stores. It is safe for concurrent use. What is written at the same time
// is not known yet, but its rate is limited.
type stored struct {
	mu sync.Mutex
	// stores hold objects by UID.
	stores map[string]map[types.UID]object
	// excessIn is the sum of what the large ones of all stores have beyond small, by namespace.
	excessIn map[string]int
	// sizes are the sums of sizes by resource and namespace, of the large ones for "".
	sizes map[place]int
	// peaks are the largest objects that there have been, as far as they were large. Watch caches have them for a while.
	peaks map[place]peak
	// events are the numbers of changes of the resources.
	events map[string]int
}

// peak is the size of the largest object of a resource in a namespace, and the number of the last change of a large one.
type peak struct{ bytes, changed int }

// history is how many changes of a resource a watch cache keeps at most.
const history = 100 * 1024

type place struct{ resource, namespace string }

func newStored() *stored {
	return &stored{stores: map[string]map[types.UID]object{}, excessIn: map[string]int{}, sizes: map[place]int{}, peaks: map[place]peak{}, events: map[string]int{}}
}

type object struct {
	namespace string
	// bytes is its size in JSON.
	bytes int
}

// excess returns what the large objects of a tree have beyond small, in bytes of JSON. root returns the root of the
// tree of a namespace.
func (s *stored) excess(tree string, root func(namespace string) string) (bytes int) {
	s.mu.Lock()
	excessIn := maps.Clone(s.excessIn)
	s.mu.Unlock()
	for namespace, excess := range excessIn {
		if root(namespace) == tree {
			bytes += excess
		}
	}
	return bytes
}

// in returns the size of the objects of a resource in a namespace, or with "" of the large ones in all, in bytes of
// JSON. A limit that is positive is the number of objects of a namespace that a list returns: any of them may be large.
func (s *stored) in(resource, namespace string, limit int) (bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes = s.sizes[place{resource, namespace}]
	if namespace != "" && limit > 0 && limit < bytes/small {
		return min(bytes, limit*small+s.excessIn[namespace])
	}
	return bytes
}

// largest returns the size of the largest object of a resource that a namespace has had, at least small.
func (s *stored) largest(resource, namespace string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.peaks[place{resource, namespace}].bytes, small)
}

// follow follows the objects of a store until the context ends.
func (s *stored) follow(ctx context.Context, name string, store storewatch.Source) {
	storewatch.Run(ctx, "large "+name, store,
		func(objects []any) { s.replace(name, objects) },
		func(obj any, gone bool) { s.set(name, obj, gone); s.age(name) })
}

// age counts a change. From time to time, it forgets the peaks of namespaces without objects that no watch cache has any
// more.
func (s *stored) age(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events[name]++; s.events[name]%history == 0 {
		maps.DeleteFunc(s.peaks, func(at place, p peak) bool {
			return at.resource == name && s.sizes[at] == 0 && s.events[name]-p.changed >= history
		})
	}
}

func (s *stored) replace(name string, objects []any) {
	s.mu.Lock()
	for uid := range s.stores[name] {
		s.forget(name, uid)
	}
	s.stores[name] = map[types.UID]object{}
	s.mu.Unlock()
	for _, o := range objects {
		s.set(name, o, false)
	}
}

func (s *stored) set(name string, obj any, gone bool) {
	metadata, err := meta.Accessor(obj)
	if err != nil {
		return // an error of the store is no object
	}
	bytes := 0
	if !gone {
		bytes, _ = size(obj.(runtime.Object))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(name, metadata.GetUID())
	if !gone {
		s.remember(name, metadata.GetUID(), object{metadata.GetNamespace(), bytes})
	}
}

// remember adds an object that is unknown. The mutex is locked.
func (s *stored) remember(name string, uid types.UID, o object) {
	s.stores[name][uid] = o
	s.count(name, o, 1)
}

// forget removes an object that may be unknown. The mutex is locked.
func (s *stored) forget(name string, uid types.UID) {
	o, known := s.stores[name][uid]
	if !known {
		return
	}
	delete(s.stores[name], uid)
	s.count(name, o, -1)
}

// count adds an object to the sums, or removes it with -1. The mutex is locked.
func (s *stored) count(name string, o object, sign int) {
	add(s.sizes, place{name, o.namespace}, sign*o.bytes)
	if o.bytes > small {
		at := place{name, o.namespace}
		s.peaks[at] = peak{max(s.peaks[at].bytes, o.bytes), s.events[name]}
		add(s.sizes, place{name, ""}, sign*o.bytes)
		add(s.excessIn, o.namespace, sign*(o.bytes-small))
	}
}

func add[K comparable](sums map[K]int, key K, n int) {
	if sums[key] += n; sums[key] == 0 {
		delete(sums, key)
	}
}
