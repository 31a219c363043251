package rbacindex

import (
	"hash/maphash"
	"sync"
	"time"
)

// Changes tells when the roles and bindings that apply in a namespace changed last, so that a decision of RBAC needs no
// further check until then. It is safe for concurrent use.
type Changes struct {
	// Now is the clock.
	Now func() time.Time

	mu      sync.RWMutex
	cluster time.Time
	// namespaces holds the last change in a namespace, by its hash: another namespace of the same hash only seems to
	// have changed, and names that tenants choose take no memory.
	namespaces [4096]time.Time
	seed       maphash.Seed
	// heard is when each source has been heard of last.
	heard map[string]time.Time
}

// maxSilence is how long a source may be silent. kube-apiserver sends a bookmark about once a minute.
const maxSilence = 150 * time.Second

// NewChanges returns Changes that hear of the given sources.
func NewChanges(sources ...string) *Changes {
	c := &Changes{Now: time.Now, seed: maphash.MakeSeed(), heard: map[string]time.Time{}}
	for _, source := range sources {
		c.heard[source] = time.Time{}
	}
	return c
}

// Heard notes that everything that a source has reported until now is known.
func (c *Changes) Heard(source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard[source] = c.Now()
}

// Changed notes that a role or a binding has changed in a namespace, or in the cluster for AllNamespaces.
func (c *Changes) Changed(source, namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	c.heard[source] = now
	if namespace == AllNamespaces {
		c.cluster = now
	} else {
		c.namespaces[c.bucket(namespace)] = now
	}
}

// Last returns when a role or a binding that applies in a namespace changed last. It reports false if that is not
// known, because a source is silent.
func (c *Changes) Last(namespace string) (time.Time, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	now := c.Now()
	for _, heard := range c.heard {
		if now.Sub(heard) > maxSilence {
			return time.Time{}, false
		}
	}
	last := c.cluster
	if namespace != AllNamespaces {
		if own := c.namespaces[c.bucket(namespace)]; own.After(last) {
			last = own
		}
	}
	return last, true
}

func (c *Changes) bucket(namespace string) uint64 {
	return maphash.String(c.seed, namespace) % uint64(len(c.namespaces))
}
