package quota

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

const (
	// maxUncounted is how many ResourceQuotas of a tree, and as many in its new sub-namespaces, may await
	// kube-controller-manager before those of other namespaces wait.
	maxUncounted = 100
	// countTimeout is how long one is awaited. One that is never counted must not delay the others of its tree.
	countTimeout = 30 * time.Second
	// releasePeriod is the time until waiting namespaces are reconciled although nothing was counted.
	releasePeriod = 5 * time.Second
)

// backlog are the ResourceQuotas that await kube-controller-manager. It counts those of all trees in one queue, by
// default 20 in a second, so that a tree with all its ResourceQuotas in that queue would delay all others.
type backlog map[share]*uncounted

// share identifies the ResourceQuotas that have a bound in common: those in the new sub-namespaces of a tree, whose
// limits are pending, or those in its other namespaces. So a change of a quota does not delay new sub-namespaces.
type share struct {
	root    string
	pending bool
}

type uncounted struct {
	// since holds when each ResourceQuota was written. One whose namespace moves stays until countTimeout.
	since map[quotas.Key]time.Time
	// waiting are the namespaces whose ResourceQuotas are not written yet.
	waiting sets.Set[string]
}

func shareOf(s *cache.State, namespace string) share {
	return share{root: s.Tree.Root(namespace), pending: s.Tree.LimitsPending(namespace)}
}

func (b backlog) of(at share) *uncounted {
	if b[at] == nil {
		b[at] = &uncounted{since: map[quotas.Key]time.Time{}, waiting: sets.New[string]()}
	}
	return b[at]
}

// admit reports whether a namespace's ResourceQuotas may be written now. If not, it waits until others are counted.
func (b backlog) admit(s *cache.State, namespace string, writes []write) bool {
	u := b.of(shareOf(s, namespace))
	if len(u.since) >= maxUncounted {
		u.waiting.Insert(namespace)
		return false
	}
	for _, w := range writes {
		u.since[w.Key] = time.Now()
	}
	return true
}

// settle records whether a ResourceQuota that was written or has changed awaits kube-controller-manager.
func (b backlog) settle(s *cache.State, key quotas.Key) {
	at := shareOf(s, key.Namespace)
	if o := s.Quotas.Object(key); o != nil && !o.Counted() {
		b.of(at).since[key] = time.Now()
	} else if u := b[at]; u != nil {
		delete(u.since, key)
	}
}

// release enqueues as many waiting namespaces of a tree as there is room for, and its root while there is a backlog. The
// lock must be held.
func (c *Controller) release(root string) {
	for _, at := range []share{{root: root}, {root: root, pending: true}} {
		u := c.backlog[at]
		if u == nil {
			continue
		}
		maps.DeleteFunc(u.since, func(_ quotas.Key, since time.Time) bool { return time.Since(since) >= countTimeout })
		for n := len(u.since); n < maxUncounted && u.waiting.Len() > 0; n++ {
			namespace, _ := u.waiting.PopAny()
			c.Queue.Add(queue.Key{Class: queue.Quota, Namespace: namespace})
		}
		if len(u.since)+len(u.waiting) == 0 {
			delete(c.backlog, at)
			continue
		}
		c.Queue.AddAfter(queue.Key{Class: queue.Quota, Namespace: root}, releasePeriod)
	}
}
