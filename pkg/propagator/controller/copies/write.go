package copies

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// write makes one write and enters its result in the cache.
func (c *Controller) write(ctx context.Context, slots chan struct{}, kind int, w copies.Write) error {
	switch w.Verb {
	case copies.Keep:
		c.keep(kind, w)
		return nil
	case copies.Wait:
		c.failures.recordBlocked(kind, w)
		return nil
	}
	if c.awaitsRole(kind, w) {
		return nil
	}
	if c.paced(kind, w) {
		return fmt.Errorf("%w: %s %s/%s", outcome.ErrRefused, w.Kind.Resource, w.Namespace, names.Shorten(w.Name))
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	defer c.metrics.reconciling(groupKind(w.Kind))()
	var kept backup
	if w.Overwrites() {
		done, err := c.backups.begin(w)
		if err != nil {
			return err
		}
		defer done()
		err = c.live.confirmAncestor(ctx, w.Namespace, w.Source.Namespace)
		if err == nil {
			kept, err = c.backups.add(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	written, err := copies.Apply(ctx, c.Client, w)
	result := copies.Classify(w.Verb, err)
	c.metrics.wrote(groupKind(w.Kind), w.Verb, string(result))
	switch result {
	case copies.Done:
		if err == nil {
			c.observe(kind, w, written, kept)
		}
		return nil
	case copies.Stale:
		c.backups.discard(ctx, w, kept, err)
		return fmt.Errorf("%w: %w", outcome.ErrStale, err)
	case copies.Refused:
		c.backups.discard(ctx, w, kept, err)
		c.events.refused(w, err)
		c.failures.recordRefused(kind, w, err)
	}
	return fmt.Errorf("%s %s %s/%s: %w", w.Verb, w.Kind.Resource, w.Namespace, names.Shorten(w.Name), err)
}

// paced reports whether a copy that was refused before has to wait for its turn in its tree.
func (c *Controller) paced(kind int, w copies.Write) bool {
	if !c.failures.refused(kind, w) {
		return false
	}
	var root string
	c.Cache.Read(func(s *cache.State) { root = s.Tree.Root(w.Namespace) })
	return !c.retries.Begin(root)
}

// awaitsRole reports whether a copy of a RoleBinding waits for a copy of its Role, which enqueues it.
func (c *Controller) awaitsRole(kind int, w copies.Write) (awaits bool) {
	if w.Source.BindsRole() != "" {
		c.Cache.Read(func(s *cache.State) { awaits = s.Kind(kind).Index.Awaits(w) })
	}
	return awaits
}

// observe enters the result of a write in the cache.
func (c *Controller) observe(kind int, w copies.Write, written copies.Written, kept backup) {
	if w.Verb == copies.Update && w.Overwrites() {
		c.metrics.overwrote(groupKind(w.Kind))
		c.events.overwritten(w, kept)
	}
	c.Cache.Update(func(s *cache.State) {
		if w.Verb == copies.Delete {
			if now := s.Kind(kind).Index.Get(w.Namespace, w.Name); now != nil && now.Terminating {
				return // The watch was faster: finalizers keep the copy.
			}
		}
		c.failures.clear(kind, w.Namespace, w.Name)
		s.ObserveCopy(kind, w, written)
	})
}

// keep emits events, once, about a local object that is kept.
func (c *Controller) keep(kind int, w copies.Write) {
	c.failures.clear(kind, w.Namespace, w.Name)
	c.mu.Lock()
	known := c.kept[kind][w.Present.UID] == w.Source.UID
	if c.kept[kind] == nil {
		c.kept[kind] = map[types.UID]types.UID{}
	}
	c.kept[kind][w.Present.UID] = w.Source.UID
	c.mu.Unlock()
	if !known {
		c.events.kept(w)
	}
}
