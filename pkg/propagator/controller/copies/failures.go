package copies

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// failures says why copies can't be written or removed, by kind, namespace and name. The configuration reports it.
type failures map[int]map[string]map[string]string

// in reports whether there are failures in a namespace.
func (f failures) in(namespace string) bool {
	for _, namespaces := range f {
		if len(namespaces[namespace]) > 0 {
			return true
		}
	}
	return false
}

// summary describes the failures of a kind, "" if there are none. It is the same for the same failures.
func (f failures) summary(kind int) string {
	if len(f[kind]) == 0 {
		return ""
	}
	n := 0
	for _, names := range f[kind] {
		n += len(names)
	}
	names := f[kind][slices.Min(slices.Collect(maps.Keys(f[kind])))]
	first := names[slices.Min(slices.Collect(maps.Keys(names)))]
	if n == 1 {
		return first
	}
	return fmt.Sprintf("%s; and %d more copies of the kind", first, n-1)
}

// remove removes a failure and reports whether there was one.
func (f failures) remove(kind int, namespace, name string) bool {
	names := f[kind][namespace]
	if _, ok := names[name]; !ok {
		return false
	}
	delete(names, name)
	if len(names) == 0 {
		delete(f[kind], namespace)
	}
	return true
}

// Failure describes why copies of a kind can't be written or removed, "" if all can.
func (c *Controller) Failure(kind int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failures.summary(kind)
}

func (c *Controller) failed(kind int, namespace, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failures[kind][namespace][name] != ""
}

// recordRefused records that the server rejects the write of a copy.
func (c *Controller) recordRefused(kind int, w copies.Write, err error) {
	c.recordFailure(kind, w, fmt.Sprintf("can't %s %s %q in namespace %q: %v%s",
		w.Verb, w.Kind.GroupResource(), w.Name, w.Namespace, err, outcome.MissingRightHint(w.Kind.GroupResource(), err)))
}

// recordBlocked records that a terminating object blocks a copy, or is a copy that has to go. It is in effect as long as finalizers keep it, which
// must not go unnoticed.
func (c *Controller) recordBlocked(kind int, w copies.Write) {
	why := "the source has been removed"
	if w.Source != nil {
		why = fmt.Sprintf("the one from namespace %q can't replace it", w.Source.Namespace)
	}
	if c.recordFailure(kind, w, fmt.Sprintf("%s %q in namespace %q is being deleted and is kept by its finalizers, so it stays in effect although %s; "+
		"remove the finalizers", w.Kind.GroupResource(), w.Name, w.Namespace, why)) {
		c.eventBlocked(w)
	}
}

// recordFailure records why a copy can't be written or removed, and reports whether that is new.
func (c *Controller) recordFailure(kind int, w copies.Write, message string) (recorded bool) {
	c.Cache.Read(func(s *cache.State) {
		if !s.Kind(kind).Synced {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failures[kind][w.Namespace][w.Name] == message {
			return
		}
		if c.failures[kind] == nil {
			c.failures[kind] = map[string]map[string]string{}
		}
		if c.failures[kind][w.Namespace] == nil {
			c.failures[kind][w.Namespace] = map[string]string{}
		}
		c.failures[kind][w.Namespace][w.Name] = message
		recorded = true
	})
	if recorded {
		c.FailuresChanged()
	}
	return recorded
}

// clearFailure forgets that a copy could not be written.
func (c *Controller) clearFailure(kind int, namespace, name string) {
	c.mu.Lock()
	removed := c.failures.remove(kind, namespace, name)
	c.mu.Unlock()
	if removed {
		c.FailuresChanged()
	}
}

// clearFailuresExcept forgets that copies in a namespace could not be written, except those that are tried again.
func (c *Controller) clearFailuresExcept(namespace string, tried map[int]sets.Set[string]) {
	c.mu.Lock()
	removed := false
	for kind, namespaces := range c.failures {
		for name := range namespaces[namespace] {
			if !tried[kind].Has(name) {
				removed = c.failures.remove(kind, namespace, name) || removed
			}
		}
	}
	c.mu.Unlock()
	if removed {
		c.FailuresChanged()
	}
}
