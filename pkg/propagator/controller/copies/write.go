package copies

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
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
		if w.Verb != copies.Update || w.Present.BindsRole() == "" || !w.Present.Copy {
			return nil
		}
		// The Role may await the end of the present copy.
		w = copies.Write{Verb: copies.Delete, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, Present: w.Present}
	}
	if binding, awaits := c.awaitsBinding(w); awaits {
		return fmt.Errorf("%w: Role %s/%s awaits the removal of RoleBinding %q, which refers to another one", outcome.ErrPaced,
			w.Namespace, names.Shorten(w.Name), names.Shorten(binding))
	}
	arriving, err := c.announce(kind, w, false)
	if err != nil {
		return err
	}
	defer func() { c.leave(arriving) }()
	again, ok := c.retry(time.Now(), kind, w)
	if !ok {
		return fmt.Errorf("%w: %s %s/%s", outcome.ErrPaced, w.Kind.Resource, w.Namespace, names.Shorten(w.Name))
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	release := sync.OnceFunc(func() { <-slots })
	defer release()
	defer c.metrics.reconciling(groupKind(w.Kind))()
	var kept backup
	var written copies.Written
	if w.Overwrites() {
		done, claimed := c.backups.begin(w)
		if claimed != nil {
			return claimed
		}
		defer done()
		if err := c.confirmAncestor(ctx, w.Namespace, w.From()); err != nil {
			return err
		}
		if err := c.confirmInvalid(ctx, w); err != nil {
			return err
		}
		// A new record may evict others: what the server rejects must not cost any.
		if w.Verb == copies.Update {
			err = copies.Try(ctx, c.Client, w)
		}
		if err == nil {
			var wait error
			if kept, wait = c.backups.add(ctx, w); wait != nil {
				return wait
			}
		}
	}
	if err == nil {
		written, err = copies.Apply(ctx, c.Client, w)
	}
	if err == nil && arriving == nil {
		arriving, err = c.announce(kind, w, true) // Somebody may have got permissions there since.
	}
	if err == nil && arriving != nil {
		release() // A tenant decides how long the list is.
		if err := c.confirm(ctx, arriving, w, written); err != nil {
			if w.Overwrites() {
				c.metrics.overwrote(groupKind(w.Kind))
				c.events.overwritten(w, kept)
			}
			return err
		}
	}
	result := copies.Classify(w.Verb, err)
	c.recordAnswer(kind, w, err)
	if result == copies.Failed && unnameable(w.Name) {
		result = copies.Refused
	}
	c.metrics.wrote(groupKind(w.Kind), w.Verb, string(result))
	switch result {
	case copies.Done:
		if again.size > 0 {
			c.retries.Return(time.Now(), again.root, again.size)
		}
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

// retry is what another try to write a copy that was refused takes of the rate of its tree; nothing for others.
type retry struct {
	root string
	size int
}

// retry reports whether a copy may be written now. One that was refused before may have to wait.
func (c *Controller) retry(now time.Time, kind int, w copies.Write) (r retry, ok bool) {
	if !c.failures.refused(kind, w) {
		return r, true
	}
	c.Cache.Read(func(s *cache.State) { r.root = s.Tree.Root(w.Namespace) })
	r.size = retryCost + w.Source.Size()
	return r, c.retries.Allow(now, r.root, r.size)
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
	if w.Overwrites() {
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
		if w.Role == nil || c.DryRun { // Finalizers may keep a RoleBinding in effect: the watch brings its end.
			s.ObserveCopy(kind, w, written)
		}
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
