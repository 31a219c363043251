// Package cluster reads and writes the objects of one RepositorySync.
package cluster

import (
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Cluster is the cluster as a RepositorySync sees it. Its methods may be called concurrently.
type Cluster struct {
	// sync is the name of the RepositorySync.
	sync   string
	client metadata.Interface
	// whole reads objects of which the metadata is not enough.
	whole dynamic.Interface
	// Served are the kinds of the cluster.
	*Served
	// changed is called after a change that may be drift.
	changed func()

	mu      sync.Mutex
	live    map[plan.ID]known
	applied map[plan.ID]plan.Applied
	// created are the namespaces that did not exist before the present step, which has created them.
	created map[string]bool
	// harmless are the objects that Revoke has nothing to take away from, since the time harmlessSince.
	harmless      map[plan.ID]sight
	harmlessSince time.Time
	// seen is the highest version that the watch of a kind has brought, and listed the first one that its last list may
	// have left out.
	seen, listed map[schema.GroupKind]uint64
	watches      map[schema.GroupKind]*watch
}

// known is what is known of an object.
type known struct {
	plan.Live
	// since is the version since which the RepositorySync owns the present fields.
	since uint64
	// watched is the last version that the watch has brought.
	watched uint64
}

// New returns a cluster without watches. Kinds are read by the configuration own, and everything else is read and
// written by the configuration as. changed is called after a change by another client that may need a correction.
func New(own, as *rest.Config, sync string, changed func()) (*Cluster, error) {
	d, err := discovery.NewDiscoveryClientForConfig(own)
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfig(as)
	if err != nil {
		return nil, err
	}
	whole, err := deepjson.NewDynamic(as, nil)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		sync: sync, client: client, whole: whole, Served: &Served{client: d}, changed: changed,
		live: map[plan.ID]known{}, applied: map[plan.ID]plan.Applied{}, created: map[string]bool{}, harmless: map[plan.ID]sight{}, seen: map[schema.GroupKind]uint64{},
		listed: map[schema.GroupKind]uint64{}, watches: map[schema.GroupKind]*watch{},
	}, nil
}

// Impersonating returns the configuration of requests in the name of an account. The API server adds the groups of
// ServiceAccounts.
func Impersonating(config *rest.Config, account hnc.ServiceAccountReference) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: fmt.Sprintf("system:serviceaccount:%s:%s", account.Namespace, account.Name)}
	return config
}

// Begin begins a step: the namespaces that earlier ones have created are like all others from then on.
func (c *Cluster) Begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.created)
	if time.Since(c.harmlessSince) >= lookAgain {
		clear(c.harmless)
		c.harmlessSince = time.Now()
	}
}

// State returns a copy of what is known.
func (c *Cluster) State() *plan.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := &plan.State{Live: make(map[plan.ID]plan.Live, len(c.live)), Applied: make(map[plan.ID]plan.Applied, len(c.applied))}
	for id, known := range c.live {
		state.Live[id] = known.Live
	}
	for id, applied := range c.applied {
		state.Applied[id] = applied
	}
	return state
}

// Live returns what is known of an object, and whether it exists and has been applied.
func (c *Cluster) Live(id plan.ID) (plan.Live, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, exists := c.live[id]
	return known.Live, exists
}

// put records a version of an object that the watch has brought, unless a newer one is known. It reports whether that
// may be drift. Any change may be that leaves the entries of all field managers as they were: the API server keeps them
// if a request has some that it cannot process, and within a second, one client's changes of one set of fields look like
// this. So may a change without the versions before it.
func (c *Cluster) put(id plan.ID, live plan.Live) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[id.Kind] = max(c.seen[id.Kind], live.Version)
	before, exists := c.live[id]
	if exists && before.Version >= live.Version {
		before.watched = max(before.watched, live.Version)
		c.live[id] = before
		return false
	}
	listed := c.listed[id.Kind]
	untraced := exists && (before.Managed == live.Managed || before.watched < listed && listed <= live.Version)
	since := live.Version
	if exists && !untraced && before.Owned == live.Owned {
		since = before.since
	}
	c.live[id] = known{Live: live, since: since, watched: live.Version}
	if untraced || live.Owned != c.applied[id].Owned {
		c.touch(id)
	}
	before.Version, before.Managed = live.Version, live.Managed
	return !exists || untraced || before.Live != live
}

// set records a version of an object that is the result of applying it. The caller holds the lock.
func (c *Cluster) set(id plan.ID, live plan.Live) {
	c.live[id] = known{Live: live, since: live.Version, watched: c.live[id].watched}
}

// beginList records that a list of a kind begins, which may leave out versions after the last one that the watch has
// brought.
func (c *Cluster) beginList(kind schema.GroupKind, last string) {
	version, _ := strconv.ParseUint(last, 10, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed[kind] = max(version, c.seen[kind]) + 1
}

// remove records that an object has been deleted, or has lost the label, in a version; 0 stands for an unknown one.
func (c *Cluster) remove(id plan.ID, live plan.Live) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[id.Kind] = max(c.seen[id.Kind], live.Version)
	known, exists := c.live[id]
	if !exists || live.Version != 0 && known.Version > live.Version {
		return false
	}
	delete(c.live, id)
	c.touch(id)
	return true
}

// touch records that another client may have changed an object, if it was applied. The caller holds the lock.
func (c *Cluster) touch(id plan.ID) {
	if applied, ok := c.applied[id]; ok {
		applied.Touched = true
		c.applied[id] = applied
	}
}

// detaching records that an object is about to be detached: also a write without a response may have been made.
func (c *Cluster) detaching(id plan.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if applied, ok := c.applied[id]; ok {
		applied.Detached = true
		c.applied[id] = applied
	}
}

// record stores the result of applying an object. Once the watch has passed that version, another client may have
// changed or deleted the object since, and what is known shows that.
func (c *Cluster) record(o *plan.Object, live plan.Live) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if live.Version > c.seen[o.Kind] {
		c.set(o.ID, live)
	}
	c.applied[o.ID] = plan.Applied{Hash: o.Hash, Live: live, Touched: c.live[o.ID].since > live.Version}
}

// Forget drops what is known of an object after its deletion or release. The objects in a namespace are deleted with
// it.
func (c *Cluster) Forget(id plan.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.applied, id)
	if id.Kind == object.Namespace {
		maps.DeleteFunc(c.applied, func(in plan.ID, _ plan.Applied) bool { return in.Namespace == id.Name })
	}
}

// in returns the client of a resource in a namespace; the empty one is that of cluster-scoped objects.
func (c *Cluster) in(resource schema.GroupVersionResource, namespace string) metadata.ResourceInterface {
	return c.client.Resource(resource).Namespace(namespace)
}

// Stop ends all watches and waits for them.
func (c *Cluster) Stop() {
	c.mu.Lock()
	watches := c.watches
	c.watches = map[schema.GroupKind]*watch{}
	c.mu.Unlock()
	for _, w := range watches {
		w.stop()
	}
}
