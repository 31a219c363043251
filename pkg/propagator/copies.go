package propagator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// source queues the copies that a changed source affects.
func (p *Propagator) source(key queue.Key) {
	at := p.unstamp(key)
	p.mu.RLock()
	k := p.kinds[key.Kind]
	descendants := p.tree.Descendants(key.Namespace)
	var affected []queue.Key
	for _, namespace := range descendants {
		if p.decide(key.Kind, namespace, key.Name) != nil || k.trouble.write[namespace][key.Name] != "" {
			affected = append(affected, queue.Key{Class: queue.Copy, Kind: key.Kind, Namespace: namespace, Name: key.Name})
		}
	}
	o, kind := k.index.Get(key.Namespace, key.Name), k.index.Kind
	p.mu.RUnlock()
	p.Metrics.ObjectWork(groupKind(kind))()

	switch {
	case o == nil || o.Copy:
	case o.Unreadable() != nil:
		p.reportUnreadable(kind, o)
	case o.Misread() != nil:
		p.reportMisread(kind, o)
	case o.Finalized && len(descendants) > 0:
		p.reportFinalized(kind, o)
	}
	p.lag.Start(at, affected)
	for _, k := range affected {
		p.bulk.Add(k)
	}
}

// copy makes one copy right.
func (p *Propagator) copy(ctx context.Context, key queue.Key) error {
	p.mu.RLock()
	_, moving := p.moving[key.Namespace]
	_, settling := p.settling[key.Namespace]
	var w *copies.Write
	if !moving && !settling {
		w = p.decide(key.Kind, key.Namespace, key.Name)
	}
	p.mu.RUnlock()
	switch {
	case moving || settling:
		p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: key.Namespace})
	case w != nil:
		if err := p.write(ctx, p.bulkSlots, key.Kind, *w); err != nil {
			return err
		}
	default:
		p.mu.Lock()
		p.overcome(key.Kind, key.Namespace, key.Name)
		kind := groupKind(p.kinds[key.Kind].index.Kind)
		p.mu.Unlock()
		p.Metrics.ObjectWork(kind)()
	}
	p.lag.Done(key)
	return nil
}

// destination makes all copies in a namespace right, unless somebody else is doing so.
func (p *Propagator) destination(ctx context.Context, namespace string) error {
	p.mu.RLock()
	_, settling := p.settling[namespace]
	p.mu.RUnlock()
	if settling {
		return nil
	}
	return p.allCopies(ctx, p.bulkSlots, namespace)
}

// allCopies makes all copies in a namespace right. What does not apply any more is removed before anything that newly
// applies is written, so that access is never the union of two trees for longer than the removal takes. A kind that can't be removed
// does not hold up the kinds of other API groups.
func (p *Propagator) allCopies(ctx context.Context, slots chan struct{}, namespace string) error {
	removals, writes := map[string][]func() error{}, map[string][]func() error{}
	tried, troubled := map[int]sets.Set[string]{}, false
	p.mu.RLock()
	move := p.moving[namespace]
	for _, k := range p.kinds {
		troubled = troubled || len(k.trouble.write[namespace]) > 0
	}
	if !p.tree.Frozen(namespace) {
		d := namespaces.Inheriting(p.tree, namespace)
		d.Labels = sync.OnceValue(d.Labels)
		for place, k := range p.kinds {
			if !k.synced {
				continue
			}
			old, wanted := k.index.DecideAll(d)
			group := k.index.Kind.Group
			if troubled {
				tried[place] = names(old, wanted)
			}
			for _, w := range old {
				removals[group] = append(removals[group], func() error { return p.write(ctx, slots, place, w) })
			}
			for _, w := range wanted {
				writes[group] = append(writes[group], func() error { return p.write(ctx, slots, place, w) })
			}
		}
	}
	p.mu.RUnlock()
	if troubled {
		p.overcomeOthers(namespace, tried)
	}

	var errs []error
	for group, err := range eachTogether(removals) {
		if err != nil {
			errs = append(errs, err)
			delete(writes, group)
		}
	}
	if len(errs) == 0 {
		p.moved(namespace, move)
	}
	for _, err := range eachTogether(writes) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func names(lists ...[]copies.Write) sets.Set[string] {
	names := sets.New[string]()
	for _, list := range lists {
		for _, w := range list {
			names.Insert(w.Name)
		}
	}
	return names
}

// moved takes back that a namespace moves unless it has moved again.
func (p *Propagator) moved(namespace string, move int) {
	if move == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.moving[namespace] == move {
		delete(p.moving, namespace)
	}
}

// write makes one write and enters its result in the picture.
func (p *Propagator) write(ctx context.Context, slots chan struct{}, kind int, w copies.Write) error {
	switch w.Verb {
	case copies.Keep:
		p.keep(kind, w)
		return nil
	case copies.Wait:
		p.blocked(kind, w)
		return nil
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	defer p.Metrics.ObjectWork(groupKind(w.Kind))()
	var kept backup
	if w.Overwrites() {
		err := p.confirmChain(ctx, w.Namespace, w.Source.Namespace)
		if err == nil {
			kept, err = p.backUp(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	written, err := copies.Apply(ctx, p.Copies, w)
	outcome := copies.Judge(w.Verb, err)
	p.Metrics.WriteCopy(groupKind(w.Kind), string(w.Verb), string(outcome))
	switch outcome {
	case copies.Done:
		if err == nil {
			p.wrote(kind, w, written, kept)
		}
		return nil
	case copies.Stale:
		p.discard(ctx, w, kept)
		return fmt.Errorf("%w: %w", errStale, err)
	case copies.Refused:
		p.discard(ctx, w, kept)
		p.reportRefused(w, err)
		p.refusedWrite(kind, w, err)
	}
	return fmt.Errorf("%s %s %s/%s: %w", w.Verb, w.Kind.Resource, w.Namespace, w.Name, err)
}

func (p *Propagator) wrote(kind int, w copies.Write, written copies.Written, kept backup) {
	if w.Verb == copies.Update && w.Overwrites() {
		p.Metrics.Overwrite(groupKind(w.Kind))
		p.reportOverwritten(w, kept)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	index := p.kinds[kind].index
	if w.Verb == copies.Delete {
		if now := index.Get(w.Namespace, w.Name); now != nil && now.Terminating {
			// The watch was faster: finalizers keep it.
			return
		}
	}
	p.overcome(kind, w.Namespace, w.Name)
	if !p.kinds[kind].synced || index.Kind != w.Kind {
		// The kind has been given up meanwhile.
		return
	}
	if w.Verb == copies.Delete {
		if index.Get(w.Namespace, w.Name).Held() {
			// Finalizers keep it, as the watch has brought already; it will bring its end.
			return
		}
		if old := index.Delete(w.Namespace, w.Name, w.Present.UID); old != nil {
			p.observe(kind, old, nil)
		}
		return
	}
	ahead := p.ahead(w.Kind.GroupResource().String(), written.ResourceVersion)
	old := index.Wrote(w.Source, w.Namespace, written, ahead)
	// Otherwise what the watch has brought was observed when it did.
	if ahead {
		p.observe(kind, old, index.Get(w.Namespace, w.Name))
	}
}

func groupKind(k copies.Kind) schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}

// keep reports once that a local object is kept.
func (p *Propagator) keep(kind int, w copies.Write) {
	p.mu.Lock()
	k := p.kinds[kind]
	known := k.kept[w.Present.UID] == w.Source.UID
	if k.kept == nil {
		k.kept = map[types.UID]types.UID{}
	}
	k.kept[w.Present.UID] = w.Source.UID
	p.overcome(kind, w.Namespace, w.Name)
	p.mu.Unlock()
	if !known {
		p.reportKept(w)
	}
}
