// Package copies reconciles copies: it writes sources to the namespaces below them, and removes copies that do not
// apply any more. Which copies a namespace has to have is decided by package pkg/model/copies.
package copies

import (
	"context"
	"fmt"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

// Config is what a Controller needs besides the dependencies that all controllers get.
type Config struct {
	// Client writes copies.
	Client copies.Client
	// Workers is how many copies are written at a time, and once more as many for new sub-namespaces.
	Workers int
	// PolicyWindow is how long changes of policies are collected before the copies of a kind are scanned.
	PolicyWindow time.Duration
	// FailuresChanged is called when other copies can't be written than before.
	FailuresChanged func()
}

// Any number of copies may be refused for ever, and be large. The further tries have a rate, half of it in one tree, in
// bytes, of which each try costs retryCost beside those of its object. What succeeds is given back.
const (
	retriedPerSecond = 8 << 20
	retriedBurst     = 64 << 20
	retryCost        = 16 << 10
)

// Events are written one after another, and those that come while 1,000 wait are lost. One change of a Role may withhold
// any number of RoleBindings, so the events about these have a rate, half of it in one tree, and a burst.
const (
	withheldPerSecond = 100
	withheldBurst     = 500
)

// Controller reconciles copies.
type Controller struct {
	controller.Dependencies
	Config
	// urgentSlots and slots bound the concurrent writes for new sub-namespaces and all others.
	urgentSlots, slots chan struct{}
	metrics            *objectMetrics
	changedAt          *queue.Stamps
	lag                *queue.Lag
	events             eventRecorder
	backups            *backups
	failures           *failures
	// retries limit further tries to write copies that were refused before.
	retries *tenantrates.Rates
	// withheld limits events about RoleBindings that are not propagated.
	withheld *tenantrates.Rates
	// deciding bounds the memory that decisions about whole namespaces need. It is locked before the cache.
	deciding sync.Mutex

	// mu guards what follows. The cache may be locked before it, never after it.
	mu sync.Mutex
	// moving holds the namespaces in which old copies may have to be removed before any new one is written, with the
	// number of the move.
	moving map[string]int
	moves  int
	// removalTries holds how often the removal of old copies has failed in a namespace.
	removalTries map[string]int
	// populating holds the namespaces whose copies are being written for a new sub-namespace, with their parents.
	populating map[string]string
	// passes holds the passes of namespaces that have begun.
	passes map[string]*pass
	// repeats holds the passes to begin in namespaces in which nothing has changed since some copies could not be written.
	repeats map[string]*pass
	// arrivals holds the namespaces in which Roles are being written.
	arrivals map[string]*arrivals
	// withdrawals holds the removals of Roles that could not be confirmed, as far as they have failed.
	withdrawals map[queue.Key]copies.Write
	// unanswered holds the Roles that may have been written without an answer that says so. Their keys are enqueued.
	unanswered sets.Set[queue.Key]
	// kept holds, by kind and by their UIDs, the local objects that are known to be kept, with the UIDs of the sources
	// that they shadow.
	kept map[int]map[types.UID]types.UID
}

// New returns a Controller.
func New(d controller.Dependencies, config Config) *Controller {
	c := &Controller{
		Dependencies: d, Config: config,
		urgentSlots: make(chan struct{}, config.Workers), slots: make(chan struct{}, config.Workers),
		metrics:   newMetrics(d.Metrics),
		changedAt: queue.NewStamps(),
		moving:    map[string]int{}, removalTries: map[string]int{}, populating: map[string]string{}, passes: map[string]*pass{}, repeats: map[string]*pass{},
		arrivals: map[string]*arrivals{}, withdrawals: map[queue.Key]copies.Write{}, unanswered: sets.New[queue.Key](),
		kept:    map[int]map[types.UID]types.UID{},
		events:  eventRecorder{d.Events},
		backups: newBackups(d.Hierarchy, d.Dynamic),
		retries: tenantrates.New(retriedPerSecond, retriedBurst), withheld: tenantrates.New(withheldPerSecond, withheldBurst),
	}
	c.failures = &failures{
		cache: d.Cache, events: c.events, changed: config.FailuresChanged, known: map[int]map[string]map[string]failure{},
	}
	c.lag = queue.NewLag(func(kind int, duration time.Duration) {
		var name string
		d.Cache.Read(func(s *cache.State) { name = s.Kind(kind).Index.Kind.Kind })
		c.metrics.propagated(name, duration)
	})
	return c
}

// Reconcile handles the classes Source, OrphanedCopies, Destination, Revocation and Copy.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	switch key.Class {
	case queue.Source:
		c.syncSource(key)
		return nil
	case queue.OrphanedCopies:
		c.enqueueOrphaned(key.Kind)
		return nil
	case queue.Destination:
		return c.syncDestination(ctx, key.Namespace)
	case queue.Revocation, queue.Copy:
		return c.syncCopy(ctx, key)
	}
	return fmt.Errorf("class %s is not reconciled by the copies controller", key.Class)
}

// decide returns what to write for one name in a namespace, nil if nothing.
func decide(s *cache.State, kind int, namespace, name string) *copies.Write {
	return decideAt(s, kind, namespacestate.Destination(s.Tree, namespace), name)
}

// decideAt is decide for one of several names in a namespace.
func decideAt(s *cache.State, kind int, d copies.Destination, name string) *copies.Write {
	k := s.Kind(kind)
	if !k.Synced || s.Tree.Halted(d.Namespace) {
		return nil
	}
	w := k.Index.Decide(d, name)
	if w != nil && w.Verb != copies.Delete && k.Index.Kind.Group == rbacv1.GroupName && s.Tree.LimitsPending(d.Namespace) {
		return nil // They are written when the limits are in force.
	}
	return w
}

// keyOf returns the key of a write of a kind, given by its number. A RoleBinding that is updated may have lost subjects.
// What is removed of other kinds may be a restriction that another copy replaces, so it keeps its place.
func keyOf(kind int, w *copies.Write) queue.Key {
	key := queue.Key{Class: queue.Copy, Kind: kind, Namespace: w.Namespace, Name: w.Name}
	revokes := w.Verb == copies.Delete || (w.Verb == copies.Update && w.Kind == copies.RoleBindings)
	if revokes && !w.Overwrites() && w.Kind.Group == rbacv1.GroupName {
		key.Class = queue.Revocation
	}
	return key
}

// Failures describe why copies of a kind can't be written or removed, by the groups that their namespaces are in.
func (c *Controller) Failures(kind int, groups func(namespace string) []string) map[string]string {
	return c.failures.summaries(kind, groups)
}

// Populate writes all copies of a new sub-namespace, which a request waits for; Roles and RoleBindings only if limited
// is set, which says that the limits above are in force. The namespace must be held. It returns outcome.ErrUnfinished
// when others have their turn first.
func (c *Controller) Populate(ctx context.Context, namespace string, limited bool) error {
	return c.syncNamespace(ctx, c.urgentSlots, namespace, limited)
}

// Hold makes the controller leave a namespace alone that is about to be created and populated as a sub-namespace of a
// parent, until it is released.
func (c *Controller) Hold(namespace, parent string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by, held := c.populating[namespace]; !held || by != parent {
		delete(c.passes, namespace)
	}
	c.populating[namespace] = parent
}

// Release ends Hold, if the namespace is held as a sub-namespace of the parent. Others may have Subnamespaces of its
// name.
func (c *Controller) Release(namespace, parent string) {
	c.mu.Lock()
	by, held := c.populating[namespace]
	if held = held && by == parent; held {
		delete(c.populating, namespace)
	}
	c.mu.Unlock()
	if held {
		c.Queue.Add(queue.Key{Class: queue.Destination, Namespace: namespace})
	}
}

func groupKind(k copies.Kind) schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}
