package copies

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// failures records why copies can't be written or removed. The configuration reports it. It is safe for concurrent use;
// the cache may be locked before it, never after it.
type failures struct {
	cache  *cache.Cache
	events eventRecorder
	// changed is called, without the lock, when there are other failures than before.
	changed func()

	mu sync.Mutex
	// known are by kind, namespace and name.
	known map[int]map[string]map[string]failure
}

// failure is why a copy can't be written or removed.
type failure struct {
	message string
	// refused is what the server has refused to store, zero if it is something else.
	refused copies.Digest
}

// in reports whether there are failures in a namespace.
func (f *failures) in(namespace string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, namespaces := range f.known {
		if len(namespaces[namespace]) > 0 {
			return true
		}
	}
	return false
}

// has reports whether there is a failure of a copy.
func (f *failures) has(kind int, namespace, name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[kind][namespace][name].message != ""
}

// refused reports whether the server has refused to write the same copy before.
func (f *failures) refused(kind int, w copies.Write) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	failure := f.known[kind][w.Namespace][w.Name]
	return w.Verb != copies.Delete && failure.refused != copies.Digest{} && failure.refused == w.Source.Digest
}

// summaries describe the failures of a kind, by the groups that a namespace is in, without those that have none. They
// are the same for the same failures.
func (f *failures) summaries(kind int, groups func(namespace string) []string) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	firsts, counts := map[string]string{}, map[string]int{}
	for _, namespace := range slices.Sorted(maps.Keys(f.known[kind])) {
		failed := f.known[kind][namespace]
		for _, group := range groups(namespace) {
			if counts[group] == 0 {
				firsts[group] = failed[slices.Min(slices.Collect(maps.Keys(failed)))].message
			}
			counts[group] += len(failed)
		}
	}
	for group, n := range counts {
		if n > 1 {
			firsts[group] = fmt.Sprintf("%s; and %d more copies of the kind", firsts[group], n-1)
		}
	}
	return firsts
}

// recordRefused records that the server rejects the write of a copy.
func (f *failures) recordRefused(kind int, w copies.Write, err error) {
	why := failure{message: fmt.Sprintf("can't %s %s %q in namespace %q: %s%s",
		w.Verb, w.Kind.GroupResource(), names.Shorten(w.Name), w.Namespace, names.ShortenText(err.Error()), outcome.MissingPermissionHint(w.Kind.GroupResource(), err))}
	if w.Verb != copies.Delete {
		why.refused = w.Source.Digest
	}
	f.record(kind, w, why)
}

// recordBlocked records that a terminating object blocks a copy, or is a copy that has to go. It is in effect as long
// as finalizers keep it, which must not go unnoticed.
func (f *failures) recordBlocked(kind int, w copies.Write) {
	why := "the source has been removed"
	switch {
	case w.Role != nil:
		why = fmt.Sprintf("the Role of namespace %q, which can't be written, has the name that it refers to", w.Role.Namespace)
	case w.Source != nil:
		why = fmt.Sprintf("the one from namespace %q can't replace it", w.Source.Namespace)
	}
	if f.record(kind, w, failure{message: fmt.Sprintf("%s %q in namespace %q is being deleted and is kept by its finalizers, so it stays in effect although %s; "+
		"remove the finalizers", w.Kind.GroupResource(), names.Shorten(w.Name), w.Namespace, why)}) {
		f.events.blocked(w)
	}
}

// record records why a copy can't be written or removed, and reports whether that is new.
func (f *failures) record(kind int, w copies.Write, why failure) (recorded bool) {
	f.cache.Read(func(s *cache.State) {
		if !s.Kind(kind).Synced {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		recorded = f.known[kind][w.Namespace][w.Name].message != why.message
		if f.known[kind] == nil {
			f.known[kind] = map[string]map[string]failure{}
		}
		if f.known[kind][w.Namespace] == nil {
			f.known[kind][w.Namespace] = map[string]failure{}
		}
		f.known[kind][w.Namespace][w.Name] = why
	})
	if recorded {
		f.changed()
	}
	return recorded
}

// clear forgets that a copy could not be written.
func (f *failures) clear(kind int, namespace, name string) {
	f.mu.Lock()
	removed := f.remove(kind, namespace, name)
	f.mu.Unlock()
	if removed {
		f.changed()
	}
}

// clearExcept forgets that copies in a namespace could not be written, except those that are tried again.
func (f *failures) clearExcept(namespace string, tried map[int]sets.Set[string]) {
	f.mu.Lock()
	removed := false
	for kind, namespaces := range f.known {
		for name := range namespaces[namespace] {
			if !tried[kind].Has(name) {
				removed = f.remove(kind, namespace, name) || removed
			}
		}
	}
	f.mu.Unlock()
	if removed {
		f.changed()
	}
}

// clearKind forgets the failures of a kind that is not watched any more.
func (f *failures) clearKind(kind int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, kind)
}

// remove removes a failure and reports whether there was one. The lock must be held.
func (f *failures) remove(kind int, namespace, name string) bool {
	failed := f.known[kind][namespace]
	if _, ok := failed[name]; !ok {
		return false
	}
	delete(failed, name)
	if len(failed) == 0 {
		delete(f.known[kind], namespace)
	}
	return true
}
