package mynamespace

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

// Cache holds all namespaces, the users and groups that are allowed to get them, and the last changes. It is safe for
// concurrent use.
type Cache struct {
	// requested is closed by the first request.
	requested chan struct{}
	request   func()
	// changes tells where roles and bindings have changed.
	changes *rbacindex.Changes
	// complete is closed after the initial lists.
	complete chan struct{}

	mu         sync.RWMutex
	namespaces map[string]*hnc.MyNamespace
	access     *rbacindex.Index
	history    history
	// changed is closed and replaced at each change.
	changed chan struct{}
}

// NewCache returns an empty cache. Run populates it.
func NewCache() *Cache {
	c := &Cache{
		changes:   rbacindex.NewChanges("clusterroles", "roles", "clusterrolebindings", "rolebindings"),
		requested: make(chan struct{}), complete: make(chan struct{}), changed: make(chan struct{}),
		namespaces: map[string]*hnc.MyNamespace{},
	}
	c.request = sync.OnceFunc(func() { close(c.requested) })
	c.access = rbacindex.New(func(ch rbacindex.Change) {
		c.record(change{namespace: ch.Namespace, subjects: newSubjectSet(ch.Subjects), gained: ch.Gained})
	})
	c.history.reset()
	return c
}

// LastChange returns when a role or a binding that applies in a namespace changed last, in the cluster for "". It
// reports false if that is not known. The first call has the cache populated.
func (c *Cache) LastChange(namespace string) (time.Time, bool) {
	c.request()
	return c.changes.Last(namespace)
}

// record adds a change to the history. The lock must be held. Changes before the cache is complete are not recorded
// because nobody has read it.
func (c *Cache) record(ch change) int64 {
	select {
	case <-c.complete:
	default:
		return c.history.latest()
	}
	return c.history.add(ch)
}

// update applies a mutation, and wakes the watchers if it recorded a change.
func (c *Cache) update(mutate func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.history.latest()
	mutate()
	if c.history.latest() != before {
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// setComplete marks the cache as complete.
func (c *Cache) setComplete() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history.reset()
	close(c.complete)
}

// maxWait bounds how long a request waits for the cache.
const maxWait = 30 * time.Second

// waitForSync waits until the cache is complete. The first call starts to populate it.
func (c *Cache) waitForSync(ctx context.Context) error {
	c.request()
	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	select {
	case <-c.complete:
		return nil
	case <-ctx.Done():
	case <-timeout.C:
	}
	return apierrors.NewServiceUnavailable("the caches of namespaces, roles and bindings are not synced yet; try again")
}

// setNamespace adds or updates a namespace.
func (c *Cache) setNamespace(namespace *corev1.Namespace) {
	now := newObject(namespace)
	c.update(func() {
		before := c.namespaces[now.Name]
		if before != nil && equal(before, now) {
			return
		}
		now.ResourceVersion = format(c.record(change{namespace: now.Name, before: before}))
		c.namespaces[now.Name] = now
	})
}

// deleteNamespace removes a namespace.
func (c *Cache) deleteNamespace(name string) {
	c.update(func() {
		if before := c.namespaces[name]; before != nil {
			c.record(change{namespace: name, before: before})
			delete(c.namespaces, name)
		}
	})
}

// reader is a user with a label and field selection.
type reader struct {
	subjects []rbacindex.Subject
	selects  func(*hnc.MyNamespace) bool
	// cost is the number of keys and values that selects compares a namespace with.
	cost int
}

// get returns a namespace, or nil if none of the subjects is allowed to get it.
func (c *Cache) get(subjects []rbacindex.Subject, name string) *hnc.MyNamespace {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.access.Allows(subjects, name) {
		return nil
	}
	return c.namespaces[name]
}

// list returns the namespaces visible to a reader, sorted by name, and their version.
func (c *Cache) list(r reader) ([]*hnc.MyNamespace, int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var seen []*hnc.MyNamespace
	add := func(o *hnc.MyNamespace) {
		if o != nil && r.selects(o) {
			seen = append(seen, o)
		}
	}
	if c.access.AllowsAll(r.subjects) {
		for _, o := range c.namespaces {
			add(o)
		}
	} else {
		for _, subject := range r.subjects {
			for name := range c.access.Namespaces(subject) {
				add(c.namespaces[name])
			}
		}
	}
	slices.SortFunc(seen, func(a, b *hnc.MyNamespace) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(seen), c.history.latest()
}

// hasVersion reports whether a watch can start at a version, and whether the version is the latest.
func (c *Cache) hasVersion(version int64) (known, latest bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, known = c.history.since(version)
	return known, version == c.history.latest()
}
