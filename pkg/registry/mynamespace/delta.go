package mynamespace

import (
	"cmp"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

// maxSelectorCost bounds the keys and values that changes are compared with while others wait. With the usual
// selectors, it allows all recorded changes.
const maxSelectorCost = 1 << 21

// events returns the changes visible to a reader since a version, the latest version, and a channel that is closed at
// the next change. It returns the error to end a watch with if the version is unknown or has expired, or if the
// selector is too long for all changes since: a new list costs less.
//
// An event contains the namespace as it is now, with the version of its first change since. A reader who resumes at
// the version of the last received event therefore gets all later changes, but may have seen more than that version:
// the event may have included a later change. So a reader who resumes gets every changed namespace that is visible,
// even if it seems unchanged, and the removal of every namespace that is no longer visible, even if it seems never to
// have been visible.
//
// The cost is proportional to the number of changes, not of namespaces, unless the reader gained or lost access to
// all namespaces.
func (c *Cache) events(r reader, version int64, resumed bool) (events []event, latest int64, changed <-chan struct{}, err *apierrors.StatusError) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	changes, ok := c.history.since(version)
	switch {
	case !ok:
		return nil, 0, nil, expired(version)
	case len(changes)*r.cost > maxSelectorCost:
		return nil, 0, nil, apierrors.NewResourceExpired(fmt.Sprintf(
			"the selectors have %d keys and values, too many for all changes since resourceVersion %s; list again, or with shorter selectors", r.cost, format(version)))
	}
	d := delta{cache: c, reader: r, namespaces: map[string]*namespaceDelta{}, hadAccess: map[accessKey]bool{}}
	for _, subject := range r.subjects {
		d.hashes = append(d.hashes, hashOf(subject))
	}
	before := version
	for _, ch := range changes {
		d.add(ch, before)
		before = ch.version
	}
	for _, n := range d.inOrder() {
		events = append(events, d.events(n, resumed)...)
	}
	return events, c.history.latest(), c.changed, nil
}

// delta collects the changes visible to one reader.
type delta struct {
	cache  *Cache
	reader reader
	// hashes are those of the reader's subjects.
	hashes     []uint64
	namespaces map[string]*namespaceDelta
	// hadAccess holds the changed access of the reader, as it was before.
	hadAccess map[accessKey]bool
}

type accessKey struct {
	subject   rbacindex.Subject
	namespace string
}

// namespaceDelta is a namespace with a change that may be visible to the reader.
type namespaceDelta struct {
	name string
	// version is that of the first change, previous that of the change before it.
	version, previous int64
	// changed reports that the namespace itself changed. before is its first state.
	changed bool
	before  *hnc.MyNamespace
	// selected reports that the reader selected one of these states.
	selected bool
}

// add adds a change; previous is the version before it.
func (d *delta) add(ch change, previous int64) {
	if !ch.isAccessChange() {
		n := d.touch(ch.namespace, ch.version, previous)
		if !n.changed {
			n.changed, n.before = true, ch.before
		}
		n.selected = n.selected || ch.before != nil && d.reader.selects(ch.before)
		return
	}
	concerned := false
	for i, hash := range d.hashes {
		if !ch.subjects.has(hash) {
			continue
		}
		concerned = true
		if r := (accessKey{d.reader.subjects[i], ch.namespace}); !d.recorded(r) {
			d.hadAccess[r] = !ch.gained
		}
	}
	if !concerned {
		return
	}
	if ch.namespace != rbacindex.AllNamespaces {
		d.touch(ch.namespace, ch.version, previous)
		return
	}
	// All of them share the previous version, so that a reader who resumes among them misses none.
	for name := range d.cache.namespaces {
		d.touch(name, previous, previous)
	}
}

func (d *delta) recorded(r accessKey) bool {
	_, found := d.hadAccess[r]
	return found
}

func (d *delta) touch(name string, version, previous int64) *namespaceDelta {
	n := d.namespaces[name]
	if n == nil {
		n = &namespaceDelta{name: name, version: version, previous: previous}
		d.namespaces[name] = n
	}
	return n
}

func (d *delta) inOrder() []*namespaceDelta {
	all := make([]*namespaceDelta, 0, len(d.namespaces))
	for _, n := range d.namespaces {
		all = append(all, n)
	}
	// Those that share the version of another change come after it.
	slices.SortFunc(all, func(a, b *namespaceDelta) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.previous, b.previous), cmp.Compare(a.name, b.name))
	})
	return all
}

// events returns the events for one namespace.
func (d *delta) events(n *namespaceDelta, resumed bool) []event {
	now := d.cache.namespaces[n.name]
	before := now
	if n.changed {
		before = n.before
	}
	allowed := d.cache.access.Allows(d.reader.subjects, n.name)
	allowedBefore, ever, accessChanged := d.accessBefore(n.name, allowed)
	visibleBefore := allowedBefore && before != nil && d.reader.selects(before)
	visible := allowed && now != nil && d.reader.selects(now)
	switch {
	case visibleBefore && visible && before.UID != now.UID:
		return []event{{watch.Deleted, n.name, n.previous, before}, {watch.Added, n.name, n.version, now}}
	case visible && !visibleBefore:
		return []event{{watch.Added, n.name, n.version, now}}
	case visible && (n.changed || resumed):
		return []event{{watch.Modified, n.name, n.version, now}}
	// Whoever lost access does not learn by selectors what the namespace, or another one of the name, has become.
	case !visible && visibleBefore, !visible && resumed && ever && (accessChanged && (n.changed || now != nil) || n.selected || now != nil && d.reader.selects(now)):
		return []event{{watch.Deleted, n.name, n.version, n.lastVisible(now, allowedBefore)}}
	}
	return nil
}

// lastVisible returns the state of a deleted namespace for a reader who had access before the changes or not: nil, for
// the name alone, unless it is a state that the reader may have seen. Between two accesses, it may have been somebody
// else's.
func (n *namespaceDelta) lastVisible(now *hnc.MyNamespace, allowedBefore bool) *hnc.MyNamespace {
	switch {
	case !n.changed:
		return now
	case allowedBefore && n.before != nil:
		return n.before
	}
	return nil
}

// accessBefore reports whether the reader had access to a namespace before the changes, whether at any time since, and
// whether that has changed.
func (d *delta) accessBefore(name string, now bool) (before, ever, changed bool) {
	ever = now
	for _, subject := range d.reader.subjects {
		for _, where := range []string{name, rbacindex.AllNamespaces} {
			had, differs := d.hadAccess[accessKey{subject, where}]
			if !differs {
				had = d.cache.access.SubjectAllows(subject, where)
			}
			before, changed = before || had, changed || differs
			ever = ever || had || differs
		}
	}
	return before, ever, changed
}
