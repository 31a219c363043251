package mynamespace

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/access"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Picture is all namespaces, who may see which of them, and what has changed lately. It is safe for concurrent use.
type Picture struct {
	// wanted is closed at the first request.
	wanted chan struct{}
	want   func()
	// complete is closed once everything has been read.
	complete chan struct{}

	mu         sync.RWMutex
	namespaces map[string]*hnc.MyNamespace
	access     *access.Index
	history    history
	// changed is closed, and replaced, with each change.
	changed chan struct{}
}

// NewPicture returns an empty picture. Feed fills it.
func NewPicture() *Picture {
	p := &Picture{
		wanted: make(chan struct{}), complete: make(chan struct{}), changed: make(chan struct{}),
		namespaces: map[string]*hnc.MyNamespace{},
	}
	p.want = sync.OnceFunc(func() { close(p.wanted) })
	p.access = access.New(func(c access.Change) {
		p.remember(change{namespace: c.Namespace, subject: c.Subject, gained: c.Gained})
	})
	p.history.start()
	return p
}

// remember is called with the lock held. Nobody has seen anything until the picture is complete.
func (p *Picture) remember(c change) int64 {
	select {
	case <-p.complete:
	default:
		return p.history.latest()
	}
	return p.history.add(c)
}

// update makes a change and wakes those who watch if it was one.
func (p *Picture) update(mutate func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.history.latest()
	mutate()
	if p.history.latest() != before {
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// finish says that everything has been read.
func (p *Picture) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history.start()
	close(p.complete)
}

// maxWait bounds how long a request waits for the picture to be complete.
const maxWait = 30 * time.Second

// wait returns when the picture is complete, which is begun if nobody has asked for it yet.
func (p *Picture) wait(ctx context.Context) error {
	p.want()
	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	select {
	case <-p.complete:
		return nil
	case <-ctx.Done():
	case <-timeout.C:
	}
	return apierrors.NewServiceUnavailable("the server has not read all namespaces, roles and bindings yet; try again")
}

// setNamespace records a namespace as it is now.
func (p *Picture) setNamespace(namespace *corev1.Namespace) {
	now := newObject(namespace)
	p.update(func() {
		before := p.namespaces[now.Name]
		if before != nil && same(before, now) {
			return
		}
		now.ResourceVersion = format(p.remember(change{namespace: now.Name, before: before}))
		p.namespaces[now.Name] = now
	})
}

// deleteNamespace records that there is no namespace of that name.
func (p *Picture) deleteNamespace(name string) {
	p.update(func() {
		if before := p.namespaces[name]; before != nil {
			p.remember(change{namespace: name, before: before})
			delete(p.namespaces, name)
		}
	})
}

// reader is a user with a selection.
type reader struct {
	subjects []access.Subject
	selects  func(*hnc.MyNamespace) bool
}

// get returns a namespace if the user may see it, or nil.
func (p *Picture) get(subjects []access.Subject, name string) *hnc.MyNamespace {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.access.Sees(subjects, name) {
		return nil
	}
	return p.namespaces[name]
}

// list returns what a reader sees, by name, and the version of that.
func (p *Picture) list(r reader) ([]*hnc.MyNamespace, int64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var seen []*hnc.MyNamespace
	add := func(o *hnc.MyNamespace) {
		if o != nil && r.selects(o) {
			seen = append(seen, o)
		}
	}
	if p.access.SeesEverything(r.subjects) {
		for _, o := range p.namespaces {
			add(o)
		}
	} else {
		for _, subject := range r.subjects {
			for name := range p.access.Seen(subject) {
				add(p.namespaces[name])
			}
		}
	}
	slices.SortFunc(seen, func(a, b *hnc.MyNamespace) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(seen), p.history.latest()
}

// knows says whether watching can begin at that version; latest also whether it is the version of now.
func (p *Picture) knows(version int64) (known, latest bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	_, known = p.history.since(version)
	return known, version == p.history.latest()
}
