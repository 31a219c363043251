package quota

import (
	"container/list"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

const (
	// maxUncounted is how many ResourceQuotas of a share may await kube-controller-manager before those of other
	// namespaces wait. Those of one namespace are written together, so that a few more may await it.
	maxUncounted = 100
	// countTimeout is how long one is awaited. One that is never counted must not delay the others of its tree.
	countTimeout = 30 * time.Second
	// releasePeriod is the time until waiting namespaces are reconciled although nothing was counted.
	releasePeriod = 5 * time.Second
)

// backlog are the ResourceQuotas that await kube-controller-manager. It counts those of all trees in one queue, by
// default 20 in a second, so that a tree with all its ResourceQuotas in that queue would delay all others.
type backlog struct {
	controller.Dependencies
	lines map[share]*line
	// awaited are in the line in which they were written, also after their namespace has moved.
	awaited map[quotas.Key]*awaited
	// late were not counted in countTimeout.
	late sets.Set[quotas.Key]
	// places are those of the namespaces whose ResourceQuotas are not written yet.
	places map[string]*place
}

// share identifies the ResourceQuotas that have a bound in common.
type share struct {
	root string
	class
}

type class int

const (
	// The zero class has all others.
	_ class = iota
	// unlimited are those in new sub-namespaces, whose limits are pending. A change of a quota does not delay them.
	unlimited
	// late are those that were not counted in countTimeout. They may be such as are never counted.
	late
	classes
)

// line is where the namespaces of a share wait.
type line struct {
	share
	// awaited has the oldest at the front.
	awaited list.List
	waiting list.List
	// granted is the number of ResourceQuotas of the namespaces that are enqueued because it is their turn.
	granted int
}

type awaited struct {
	quotas.Key
	*line
	since   time.Time
	element *list.Element
}

// place is that of a namespace in a line, for some ResourceQuotas; element is nil if it is its turn.
type place struct {
	*line
	size    int
	element *list.Element
}

func newBacklog(d controller.Dependencies) *backlog {
	return &backlog{Dependencies: d, lines: map[share]*line{}, awaited: map[quotas.Key]*awaited{}, late: sets.New[quotas.Key](), places: map[string]*place{}}
}

func (l *line) full() bool { return l.awaited.Len()+l.granted >= maxUncounted }

// lineOf returns the line for ResourceQuotas in a namespace.
func (b *backlog) lineOf(s *cache.State, namespace string, keys ...quotas.Key) *line {
	at := share{root: s.Tree.Root(namespace)}
	switch {
	case b.late.HasAny(keys...):
		at.class = late
	case s.Tree.LimitsPending(namespace):
		at.class = unlimited
	}
	if b.lines[at] == nil {
		b.lines[at] = &line{share: at}
		b.Queue.AddAfter(queue.Key{Class: queue.Quota, Namespace: at.root}, releasePeriod)
	}
	return b.lines[at]
}

// admit returns the writes in a namespace that can be made now. If it has to wait, these are deletions and changes of what
// is awaited already, and it is enqueued when it is its turn. Each reconciliation of a namespace calls it, so that no turn is held for long.
func (b *backlog) admit(s *cache.State, namespace string, writes []write) []write {
	var keys []quotas.Key
	for _, w := range writes {
		if w.wanted != nil && b.awaited[w.Key] == nil {
			keys = append(keys, w.Key)
		}
	}
	if len(keys) == 0 || b.DryRun { // Nothing counts what is not stored.
		b.leave(namespace)
		return writes
	}
	l, p := b.lineOf(s, namespace, keys...), b.places[namespace]
	if here := p != nil && p.line == l; !here || p.element != nil {
		if l.full() {
			if !here {
				b.leave(namespace)
				b.places[namespace] = &place{line: l, element: l.waiting.PushBack(namespace)}
			}
			b.places[namespace].size = len(keys)
			return slices.DeleteFunc(slices.Clone(writes), func(w write) bool { return w.wanted != nil && b.awaited[w.Key] == nil })
		}
	}
	b.leave(namespace)
	for _, key := range keys {
		b.await(l, key)
	}
	return writes
}

// waits reports whether a namespace has a place in a line.
func (b *backlog) waits(namespace string) bool { return b.places[namespace] != nil }

func (b *backlog) leave(namespace string) {
	switch p := b.places[namespace]; {
	case p == nil:
		return
	case p.element == nil:
		p.granted -= p.size
	default:
		p.waiting.Remove(p.element)
	}
	delete(b.places, namespace)
}

func (b *backlog) await(l *line, key quotas.Key) {
	a := &awaited{Key: key, line: l, since: time.Now()}
	a.element = l.awaited.PushBack(a)
	b.awaited[key] = a
	b.late.Delete(key)
}

// settle records whether a ResourceQuota that was written or has changed awaits kube-controller-manager. A change does
// not prolong that.
func (b *backlog) settle(s *cache.State, key quotas.Key) {
	a := b.awaited[key]
	if o := s.Quotas.Object(key); o != nil && !o.Counted() {
		if a == nil && !b.late.Has(key) && !b.DryRun {
			b.await(b.lineOf(s, key.Namespace), key)
		}
		return
	}
	b.late.Delete(key)
	if a != nil {
		b.forget(a)
		b.release(a.line)
	}
}

func (b *backlog) forget(a *awaited) {
	delete(b.awaited, a.Key)
	a.awaited.Remove(a.element)
}

// release enqueues as many of the namespaces that wait in a line as there is room for, and its root while it is used.
func (b *backlog) release(l *line) {
	for e := l.awaited.Front(); e != nil && time.Since(e.Value.(*awaited).since) >= countTimeout; e = l.awaited.Front() {
		a := e.Value.(*awaited)
		b.forget(a)
		b.late.Insert(a.Key)
	}
	for !l.full() && l.waiting.Len() > 0 {
		namespace := l.waiting.Remove(l.waiting.Front()).(string)
		p := b.places[namespace]
		p.element = nil
		l.granted += p.size
		b.Queue.Add(queue.Key{Class: queue.Quota, Namespace: namespace})
	}
	if l.awaited.Len()+l.waiting.Len()+l.granted == 0 {
		delete(b.lines, l.share)
		return
	}
	b.Queue.AddAfter(queue.Key{Class: queue.Quota, Namespace: l.root}, releasePeriod)
}

// releaseTree does so for each line of a tree.
func (b *backlog) releaseTree(root string) {
	for class := range classes {
		if l := b.lines[share{root, class}]; l != nil {
			b.release(l)
		}
	}
}
