package mynamespace

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/access"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// events returns the changes visible to a reader since a version, the latest version, and a channel that is closed at
// the next change. ok is false if the version is unknown or has expired.
//
// An event contains the namespace as it is now, with the version of its first change since. A reader who resumes at
// the version of the last received event therefore gets all later changes, but may have seen more than that version:
// the event may have included a later change. So a reader who resumes gets every changed namespace that is visible,
// even if it seems unchanged, and the removal of every namespace that is no longer visible, even if it seems never to
// have been visible.
//
// The cost is proportional to the number of changes, not of namespaces, unless the reader gained or lost access to
// all namespaces.
func (c *Cache) events(r reader, version int64, resumed bool) (events []watch.Event, latest int64, changed <-chan struct{}, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	changes, ok := c.history.since(version)
	if !ok {
		return nil, 0, nil, false
	}
	w := delta{cache: c, reader: r, namespaces: map[string]*namespaceDelta{}, hadAccess: map[accessKey]bool{}}
	before := version
	for _, ch := range changes {
		w.add(ch, before)
		before = ch.version
	}
	for _, t := range w.inOrder() {
		events = append(events, w.events(t, resumed)...)
	}
	return events, c.history.latest(), c.changed, true
}

// delta collects the changes visible to one reader.
type delta struct {
	cache      *Cache
	reader     reader
	namespaces map[string]*namespaceDelta
	// hadAccess holds the changed access of the reader, as it was before.
	hadAccess map[accessKey]bool
}

type accessKey struct {
	subject   access.Subject
	namespace string
}

// namespaceDelta is a namespace with a change that may be visible to the reader.
type namespaceDelta struct {
	name string
	// version is that of the first change, previous that of the change before it.
	version, previous int64
	// changed reports that the namespace itself changed. before is its first state, last the one before the current
	// state.
	changed      bool
	before, last *hnc.MyNamespace
	// selected reports that the reader selected one of these states.
	selected bool
}

// add adds a change; previous is the version before it.
func (w *delta) add(ch change, previous int64) {
	if !ch.isAccessChange() {
		t := w.touch(ch.namespace, ch.version, previous)
		if !t.changed {
			t.changed, t.before = true, ch.before
		}
		if ch.before != nil {
			t.last = ch.before
			t.selected = t.selected || w.reader.selects(ch.before)
		}
		return
	}
	if !slices.Contains(w.reader.subjects, ch.subject) {
		return
	}
	if r := (accessKey{ch.subject, ch.namespace}); !w.recorded(r) {
		w.hadAccess[r] = !ch.gained
	}
	if ch.namespace != access.AllNamespaces {
		w.touch(ch.namespace, ch.version, previous)
		return
	}
	// All of them share the previous version, so that a reader who resumes among them misses none.
	for name := range w.cache.namespaces {
		w.touch(name, previous, previous)
	}
}

func (w *delta) recorded(r accessKey) bool {
	_, found := w.hadAccess[r]
	return found
}

func (w *delta) touch(name string, version, previous int64) *namespaceDelta {
	t := w.namespaces[name]
	if t == nil {
		t = &namespaceDelta{name: name, version: version, previous: previous}
		w.namespaces[name] = t
	}
	return t
}

func (w *delta) inOrder() []*namespaceDelta {
	all := make([]*namespaceDelta, 0, len(w.namespaces))
	for _, t := range w.namespaces {
		all = append(all, t)
	}
	// Those that share the version of another change come after it.
	slices.SortFunc(all, func(a, b *namespaceDelta) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.previous, b.previous), cmp.Compare(a.name, b.name))
	})
	return all
}

// events returns the events for one namespace.
func (w *delta) events(t *namespaceDelta, resumed bool) []watch.Event {
	now := w.cache.namespaces[t.name]
	before := now
	if t.changed {
		before = t.before
	}
	may := w.cache.access.Allows(w.reader.subjects, t.name)
	might, ever := w.accessBefore(t.name, may)
	saw := might && before != nil && w.reader.selects(before)
	sees := may && now != nil && w.reader.selects(now)
	switch {
	case saw && sees && before.UID != now.UID:
		return []watch.Event{{Type: watch.Deleted, Object: withVersion(before, t.previous)}, {Type: watch.Added, Object: withVersion(now, t.version)}}
	case sees && !saw:
		return []watch.Event{{Type: watch.Added, Object: withVersion(now, t.version)}}
	case sees && (t.changed || resumed):
		return []watch.Event{{Type: watch.Modified, Object: withVersion(now, t.version)}}
	case !sees && saw, !sees && resumed && ever && (t.selected || now != nil && w.reader.selects(now)):
		return []watch.Event{{Type: watch.Deleted, Object: withVersion(t.lastVisible(now), t.version)}}
	}
	return nil
}

// lastVisible returns the state of a deleted namespace for a reader: nothing newer than the lost access.
func (t *namespaceDelta) lastVisible(now *hnc.MyNamespace) *hnc.MyNamespace {
	switch {
	case !t.changed:
		return now
	case t.last != nil:
		return cmp.Or(t.before, t.last)
	}
	return &hnc.MyNamespace{ObjectMeta: metav1.ObjectMeta{Name: now.Name, UID: now.UID}}
}

// accessBefore reports whether the reader had access to a namespace before the changes, and whether at any time
// since.
func (w *delta) accessBefore(name string, now bool) (before, ever bool) {
	ever = now
	for _, subject := range w.reader.subjects {
		for _, where := range []string{name, access.AllNamespaces} {
			had, changed := w.hadAccess[accessKey{subject, where}]
			if !changed {
				had = w.cache.access.SubjectAllows(subject, where)
			}
			before = before || had
			ever = ever || had || changed
		}
	}
	return before, ever
}
