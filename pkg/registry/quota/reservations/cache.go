package reservations

import (
	"sync"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// recordCache holds the records that this replica has read or written since it was emptied last. They may be outdated.
// It is safe for concurrent use.
type recordCache struct {
	mu      sync.Mutex
	entries map[string]fence.Entry
}

func (c *recordCache) get(name string) (fence.Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[name]
	return entry, ok
}

func (c *recordCache) set(entry fence.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]fence.Entry{}
	}
	c.entries[entry.Name] = entry
}

func (c *recordCache) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, name)
}

// empty removes all records. No event tells of those that other replicas delete; the ones that are still used are read
// again.
func (c *recordCache) empty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = nil
}
