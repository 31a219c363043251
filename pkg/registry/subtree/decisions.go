package subtree

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

const (
	// settling is how long after a change of roles and bindings, besides the time for which the authorizer caches
	// decisions, reviews may still answer as before: kube-apiserver sees the change a moment later.
	settling = 5 * time.Second
	// maxAge is the age of a decision at which it is due, and maxAgeByRBAC that of one that follows from roles and
	// bindings which have not changed since.
	maxAge, maxAgeByRBAC = 55 * time.Second, 10 * time.Minute
)

// LastChange returns when a role or a binding that applies in a namespace changed last, in the cluster for "". It
// reports false if that is not known.
type LastChange func(namespace string) (time.Time, bool)

// decisions are those of the authorizer about one caller. They are safe for concurrent use. Those of nil are forgotten.
type decisions struct {
	lastChange LastChange
	// settling is how long after a change decisions may be those from before it.
	settling time.Duration
	now      func() time.Time

	mu sync.Mutex
	in map[string]decision
}

type decision struct {
	at      time.Time
	allowed bool
	// byRBAC is whether a role and its binding allow it. Other authorizers do not tell what they depend on.
	byRBAC bool
}

// newDecisions returns the decisions of an authorizer that caches allowed ones for some time.
func newDecisions(lastChange LastChange, cached time.Duration) *decisions {
	return &decisions{lastChange: lastChange, settling: cached + settling, now: time.Now, in: map[string]decision{}}
}

// asking returns when a review begins, whose decision is recorded.
func (d *decisions) asking() time.Time {
	if d == nil {
		return time.Time{}
	}
	return d.now()
}

// record notes a decision about what was asked at a time, "" for the whole cluster. Its reason is that of the
// authorizer.
func (d *decisions) record(namespace string, asked time.Time, decided authorizer.Decision, reason string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	allowed := decided == authorizer.DecisionAllow
	d.in[namespace] = decision{asked, allowed, allowed && strings.HasPrefix(reason, "RBAC: allowed by ")}
}

// last returns the last decision about a namespace.
func (d *decisions) last(namespace string) decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.in[namespace]
}

// allows reports whether the last decision allows it, and is not due.
func (d *decisions) allows(namespace string) bool {
	if d == nil {
		return false
	}
	made := d.last(namespace)
	return made.allowed && !d.due(namespace)
}

// holds reports whether a decision is that of roles and bindings which have not changed since.
func (d *decisions) holds(namespace string) bool {
	if d == nil {
		return false
	}
	made := d.last(namespace)
	if !made.byRBAC || d.now().Sub(made.at) >= maxAgeByRBAC {
		return false
	}
	changed, known := d.lastChange(namespace)
	return known && made.at.After(changed.Add(d.settling))
}

// due reports whether to review a decision again. A change of roles and bindings makes it due at once.
func (d *decisions) due(namespace string) bool {
	if d == nil {
		return true
	}
	made := d.last(namespace)
	if d.holds(namespace) {
		return false
	}
	changed, known := d.lastChange(namespace)
	return d.now().Sub(made.at) >= maxAge || known && !made.at.After(changed.Add(d.settling))
}

// forget forgets decisions about namespaces that are not asked for any more.
func (d *decisions) forget(namespaces ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, namespace := range namespaces {
		delete(d.in, namespace)
	}
}
