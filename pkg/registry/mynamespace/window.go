package mynamespace

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/access"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// events returns what brings a reader who has seen the version up to now, the version of now, and what is closed at the next
// change. ok is false if the version is not known (any more).
//
// An event shows a namespace as it is now, and carries the version of the first change since, so that whoever begins again
// at the version of the last event that he got is told of everything that comes after. He may then know more than his version
// says: an event may have shown him the effect of a later change. So a reader who begins again (resumed) is told of everything
// that changed and that he may see, even if it seems to be as it was, and that is gone for him, even if it seems that he never
// saw it.
//
// It costs the number of changes since, not of namespaces, unless the reader got or lost the right to see all.
func (p *Picture) events(r reader, version int64, resumed bool) (events []watch.Event, latest int64, changed <-chan struct{}, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	changes, ok := p.history.since(version)
	if !ok {
		return nil, 0, nil, false
	}
	w := window{picture: p, reader: r, touched: map[string]*touched{}, rights: map[right]bool{}}
	before := version
	for _, c := range changes {
		w.take(c, before)
		before = c.version
	}
	for _, t := range w.inOrder() {
		events = append(events, w.events(t, resumed)...)
	}
	return events, p.history.latest(), p.changed, true
}

// window is what a reader has to be told of some changes.
type window struct {
	picture *Picture
	reader  reader
	touched map[string]*touched
	// rights are the reader's rights that changed, as they were before.
	rights map[right]bool
}

type right struct {
	subject   access.Subject
	namespace string
}

// touched is a namespace of which the reader may have to be told.
type touched struct {
	name string
	// version is that of the first change, previous that of the change before it.
	version, previous int64
	// changed says that the namespace itself did, from what it was before, over what it was last before now.
	changed      bool
	before, last *hnc.MyNamespace
	// selected says that one of these was selected.
	selected bool
}

// take adds a change; previous is the version before it.
func (w *window) take(c change, previous int64) {
	if !c.ofRights() {
		t := w.touch(c.namespace, c.version, previous)
		if !t.changed {
			t.changed, t.before = true, c.before
		}
		if c.before != nil {
			t.last = c.before
			t.selected = t.selected || w.reader.selects(c.before)
		}
		return
	}
	if !slices.Contains(w.reader.subjects, c.subject) {
		return
	}
	if r := (right{c.subject, c.namespace}); !w.has(r) {
		w.rights[r] = !c.gained
	}
	if c.namespace != access.Everywhere {
		w.touch(c.namespace, c.version, previous)
		return
	}
	// All share the version before, so that none is missed by who begins again among them.
	for name := range w.picture.namespaces {
		w.touch(name, previous, previous)
	}
}

func (w *window) has(r right) bool {
	_, found := w.rights[r]
	return found
}

func (w *window) touch(name string, version, previous int64) *touched {
	t := w.touched[name]
	if t == nil {
		t = &touched{name: name, version: version, previous: previous}
		w.touched[name] = t
	}
	return t
}

func (w *window) inOrder() []*touched {
	all := make([]*touched, 0, len(w.touched))
	for _, t := range w.touched {
		all = append(all, t)
	}
	// Those that share the version of another's change come after it.
	slices.SortFunc(all, func(a, b *touched) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.previous, b.previous), cmp.Compare(a.name, b.name))
	})
	return all
}

// events returns what the reader has to be told of a namespace.
func (w *window) events(t *touched, resumed bool) []watch.Event {
	now := w.picture.namespaces[t.name]
	before := now
	if t.changed {
		before = t.before
	}
	may := w.picture.access.Sees(w.reader.subjects, t.name)
	might, ever := w.rightsBefore(t.name, may)
	saw := might && before != nil && w.reader.selects(before)
	sees := may && now != nil && w.reader.selects(now)
	switch {
	case saw && sees && before.UID != now.UID:
		return []watch.Event{{Type: watch.Deleted, Object: at(before, t.previous)}, {Type: watch.Added, Object: at(now, t.version)}}
	case sees && !saw:
		return []watch.Event{{Type: watch.Added, Object: at(now, t.version)}}
	case sees && (t.changed || resumed):
		return []watch.Event{{Type: watch.Modified, Object: at(now, t.version)}}
	case !sees && saw, !sees && resumed && ever && (t.selected || now != nil && w.reader.selects(now)):
		return []watch.Event{{Type: watch.Deleted, Object: at(t.gone(now), t.version)}}
	}
	return nil
}

// gone returns what a reader who does not see the namespace any more is shown of it: nothing that is newer than his right.
func (t *touched) gone(now *hnc.MyNamespace) *hnc.MyNamespace {
	switch {
	case !t.changed:
		return now
	case t.last != nil:
		return cmp.Or(t.before, t.last)
	}
	return &hnc.MyNamespace{ObjectMeta: metav1.ObjectMeta{Name: now.Name, UID: now.UID}}
}

// rightsBefore says whether the reader had the right to get a namespace before the changes, and whether at any time since.
func (w *window) rightsBefore(name string, now bool) (before, ever bool) {
	ever = now
	for _, subject := range w.reader.subjects {
		for _, where := range []string{name, access.Everywhere} {
			had, changed := w.rights[right{subject, where}]
			if !changed {
				had = w.picture.access.Has(subject, where)
			}
			before = before || had
			ever = ever || had || changed
		}
	}
	return before, ever
}
