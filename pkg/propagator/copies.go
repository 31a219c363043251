package propagator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// source queues the copies that a changed source affects.
func (p *Propagator) source(key queue.Key) {
	at := p.unstamp(key)
	p.mu.RLock()
	descendants := p.tree.Descendants(key.Namespace)
	var affected []queue.Key
	for _, namespace := range descendants {
		if p.decide(key.Kind, namespace, key.Name) != nil {
			affected = append(affected, queue.Key{Class: queue.Copy, Kind: key.Kind, Namespace: namespace, Name: key.Name})
		}
	}
	o := p.indexes[key.Kind].Get(key.Namespace, key.Name)
	p.mu.RUnlock()

	if o != nil && !o.Copy && o.Finalized && len(descendants) > 0 {
		p.reportFinalized(p.Kinds[key.Kind], o)
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
// applies is written, so that access is never the union of two trees for longer than the removal takes.
func (p *Propagator) allCopies(ctx context.Context, slots chan struct{}, namespace string) error {
	var removals, writes []func() error
	p.mu.RLock()
	move := p.moving[namespace]
	if !p.tree.Frozen(namespace) {
		ancestors := p.tree.Ancestors(namespace)
		for kind, index := range p.indexes {
			old, wanted := index.DecideAll(ancestors, namespace)
			for _, w := range old {
				removals = append(removals, func() error { return p.write(ctx, slots, kind, w) })
			}
			for _, w := range wanted {
				writes = append(writes, func() error { return p.write(ctx, slots, kind, w) })
			}
		}
	}
	p.mu.RUnlock()

	if err := together(removals); err != nil {
		return err
	}
	p.moved(namespace, move)
	return together(writes)
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

// together runs the functions concurrently and returns their errors. How many run at a time is up to the slots that they take.
func together(functions []func() error) error {
	errs := make([]error, len(functions))
	var group sync.WaitGroup
	for i, f := range functions {
		group.Go(func() { errs[i] = f() })
	}
	group.Wait()
	return errors.Join(errs...)
}

// write makes one write and enters its result in the picture.
func (p *Propagator) write(ctx context.Context, slots chan struct{}, kind int, w copies.Write) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if w.Overwrites() {
		if err := p.confirmChain(ctx, w.Namespace, w.Source.Namespace); err != nil {
			return err
		}
	}
	written, err := copies.Apply(ctx, p.Copies, w)
	outcome := copies.Judge(w.Verb, err)
	p.Metrics.Write(w.Kind.Kind, string(w.Verb), string(outcome))
	switch outcome {
	case copies.Done:
		if err == nil {
			p.wrote(kind, w, written)
		}
		return nil
	case copies.Stale:
		return fmt.Errorf("%w: %w", errStale, err)
	case copies.Refused:
		p.reportRefused(w, err)
	}
	return fmt.Errorf("%s %s %s/%s: %w", w.Verb, w.Kind.Resource, w.Namespace, w.Name, err)
}

func (p *Propagator) wrote(kind int, w copies.Write, written copies.Written) {
	if w.Verb == copies.Update && w.Overwrites() {
		p.Metrics.Overwrite(w.Kind.Kind)
		p.reportOverwritten(w)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	index := p.indexes[kind]
	if w.Verb == copies.Delete {
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
