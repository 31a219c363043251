// Package writer carries out plans: it writes objects phase by phase, and deletes what has left the repository.
package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// Concurrency is how many objects are written at a time.
const Concurrency = 16

// Operation is a kind of write.
type Operation string

// The operations, as metrics show them.
const (
	Apply   Operation = "apply"
	Delete  Operation = "delete"
	Release Operation = "release"
)

// Writer carries out plans for one RepositorySync.
type Writer struct {
	Cluster *cluster.Cluster
	// Unknown are the kinds whose objects are not known, with the reason. They are not written.
	Unknown map[schema.GroupKind]error
	// DeletesUsed lets it delete namespaces, and definitions, with objects that are not from the repository.
	DeletesUsed bool
	// Permit returns false for an object that is not to be written now. Nil permits all.
	Permit func(*plan.Object) bool
	// Defined is called when the CustomResourceDefinitions have been written. Nil does nothing.
	Defined func(ctx context.Context, written int)
	// Done receives the result of each write; path is the file of an object that is applied. It is called concurrently.
	Done func(operation Operation, id plan.ID, path string, err error)
	// Applied receives the result of each object that was to be created or updated. It is called concurrently. Nil does
	// nothing.
	Applied func(o *plan.Object, err error)
	// Kept receives the objects that are not deleted, because others have their names. Nil leaves these results to
	// Done.
	Kept func(id plan.ID, reason error)
	// LeftOut are, by namespace, objects of the repository that the plan does not contain.
	LeftOut map[string]string

	mu sync.Mutex
	// missing are, by namespace, the first object that was not applied.
	missing map[string]plan.ID
	// granted are, by namespace, why what restricts a permission stays: its deletion has failed.
	granted map[string]error
	// late are the permissions that are applied after the late Hierarchies of their namespaces.
	late []*plan.Object
}

// Apply creates and updates the objects of a plan: all of a phase before any of the next. In a namespace in which an
// object is not as the repository says, permissions are not extended, only reduced: it may be what restricts them. The
// results go to Done.
func (w *Writer) Apply(ctx context.Context, p *plan.Plan) {
	w.Cluster.Begin()
	late := make(map[string]bool, len(p.Late))
	for _, o := range p.Late {
		late[o.Namespace] = true
	}
	for phase, objects := range p.Apply {
		objects = slices.DeleteFunc(slices.Clone(objects), func(o *plan.Object) bool {
			denied := w.Permit != nil && !w.Permit(o)
			if denied {
				w.miss(o.ID)
			}
			return denied || w.postpone(ctx, o, late)
		})
		w.apply(ctx, objects)
		if phase == plan.PhaseDefinitions && w.Defined != nil {
			w.Defined(ctx, len(objects))
		}
	}
}

func (w *Writer) apply(ctx context.Context, objects []*plan.Object) {
	Concurrently(ctx, objects, func(o *plan.Object) {
		err := w.Unknown[o.Kind]
		if err == nil {
			err = w.waits(ctx, o)
		}
		if err == nil {
			err = w.write(ctx, o)
		}
		if err != nil {
			w.miss(o.ID)
		}
		w.Done(Apply, o.ID, o.Path, err)
		if w.Applied != nil {
			w.Applied(o, err)
		}
	})
}

// write applies an object. What a permission no longer grants is taken away although the object itself is rejected.
func (w *Writer) write(ctx context.Context, o *plan.Object) error {
	err := w.Cluster.Apply(ctx, o)
	if err != nil && o.Grants() && !o.Aggregated() {
		if _, revoked := w.Cluster.Revoke(ctx, o, err); revoked != nil {
			return fmt.Errorf("what it no longer grants is not taken away: %w; it is not applied: %w", revoked, err)
		}
	}
	return err
}

// miss records an object that is not as the repository says.
func (w *Writer) miss(id plan.ID) {
	namespace := id.Within()
	if namespace == "" || id.Waits() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, exists := w.missing[namespace]; !exists || plan.CompareIDs(id, first) < 0 {
		if w.missing == nil {
			w.missing = map[string]plan.ID{}
		}
		w.missing[namespace] = id
	}
}

// waits returns why an object is not applied yet, nil if it is. What it no longer grants does not wait.
func (w *Writer) waits(ctx context.Context, o *plan.Object) error {
	if !o.Waits() {
		return nil
	}
	w.mu.Lock()
	first, missing := w.missing[o.Namespace]
	w.mu.Unlock()
	left := w.LeftOut[o.Namespace]
	if missing {
		left = first.String()
	}
	if left == "" {
		return nil
	}
	reduces, err := w.Cluster.Revoke(ctx, o, nil)
	if err != nil || reduces {
		return err
	}
	return fmt.Errorf("it waits for %s, which may restrict what it grants, and is not as the repository says", left)
}

// postpone takes a permission out of Apply if its namespace has a late Hierarchy, except for what it no longer grants.
func (w *Writer) postpone(ctx context.Context, o *plan.Object, late map[string]bool) bool {
	if !o.Waits() || !late[o.Namespace] {
		return false
	}
	if reduces, err := w.Cluster.Revoke(ctx, o, nil); err == nil && reduces {
		return false
	}
	w.late = append(w.late, o)
	return true
}

// Concurrently calls f for each object, for Concurrency of them at a time, and returns when all calls have returned.
// When the context ends, it calls f for no further object.
func Concurrently(ctx context.Context, objects []*plan.Object, f func(*plan.Object)) {
	jobs := make(chan *plan.Object)
	var running sync.WaitGroup
	for range min(Concurrency, len(objects)) {
		running.Go(func() {
			for o := range jobs {
				f(o)
			}
		})
	}
	for _, o := range objects {
		if ctx.Err() != nil {
			break
		}
		jobs <- o
	}
	close(jobs)
	running.Wait()
}

// KeepInUse takes the namespaces out of a plan that contain objects which are not from the repository, or that have
// sub-namespaces, and the CustomResourceDefinitions of such objects. It returns the reason for each.
func (w *Writer) KeepInUse(ctx context.Context, p *plan.Plan) map[plan.ID]error {
	kept, names := map[plan.ID]error{}, map[string]bool{}
	for _, id := range p.DeleteNamespaces {
		err := w.inUse(ctx, id)
		if err != nil {
			kept[id], names[id.Name] = err, true
		}
	}
	p.Keep(names)
	p.Delete = slices.DeleteFunc(p.Delete, func(id plan.ID) bool {
		if err := w.inUse(ctx, id); err != nil {
			kept[id] = err
		}
		return kept[id] != nil
	})
	return kept
}

// inUse returns why a namespace or a CustomResourceDefinition is not deleted; nil if it is, and for other objects.
func (w *Writer) inUse(ctx context.Context, id plan.ID) error {
	var found, what string
	var err error
	switch id.Kind {
	case object.Namespace:
		what = "the namespace is not deleted, because it contains objects that are not"
		found, err = w.Cluster.InUse(ctx, id.Name)
	case object.CRD:
		what = "the CustomResourceDefinition is not deleted, because there are objects of its kind that are not"
		found, err = w.Cluster.DefinitionInUse(ctx, id.Name)
	}
	if err == nil && found != "" {
		err = fmt.Errorf("%s from the repository: %s; remove them, or set spec.allowNonEmptyNamespaceDeletion of the RepositorySync, or --allow-non-empty-namespace-deletion", what, found)
	}
	return err
}

// Revoke deletes the permissions in namespaces that have left the repository, also where the namespace may stay, and
// takes them out of the plan. The results go to Done.
func (w *Writer) Revoke(ctx context.Context, p *plan.Plan) {
	for _, id := range p.Revoke() {
		if ctx.Err() != nil {
			return
		}
		if err := w.delete(ctx, id); err != nil {
			if w.granted == nil {
				w.granted = map[string]error{}
			}
			w.granted[id.Namespace] = fmt.Errorf("it is deleted after %s, whose deletion has failed", id)
		}
	}
}

// Prune revokes, releases and deletes what a plan says, then applies what had to wait for that. Where a permission
// stays, the namespace stays with all that is in it, which may be what restricts the permission. The results go to Done.
func (w *Writer) Prune(ctx context.Context, p *plan.Plan) {
	w.Revoke(ctx, p)
	for _, id := range p.Forget {
		w.Cluster.Forget(id)
	}
	for _, id := range p.Release {
		if ctx.Err() != nil {
			return
		}
		w.Done(Release, id, "", w.Cluster.Release(ctx, id))
	}
	for _, id := range slices.Concat(p.Delete, p.DeleteNamespaces) {
		if ctx.Err() != nil {
			return
		}
		err := w.granted[id.Within()]
		if err == nil {
			err = w.unused(ctx, id)
		}
		if err != nil {
			w.Done(Delete, id, "", err)
			continue
		}
		_ = w.delete(ctx, id)
	}
	w.apply(ctx, p.Late)
	w.apply(ctx, w.late)
}

// unused is inUse unless what is used is deleted, too. Everything before has taken its time, and an object may have come
// into use since KeepInUse.
func (w *Writer) unused(ctx context.Context, id plan.ID) error {
	if w.DeletesUsed {
		return nil
	}
	return w.inUse(ctx, id)
}

// delete deletes an object, and reports and returns the result. If the kind no longer exists, neither does the object.
func (w *Writer) delete(ctx context.Context, id plan.ID) error {
	err := w.Cluster.Delete(ctx, id)
	switch replaced := errors.Is(err, cluster.ErrReplaced); {
	case replaced && w.Kept != nil:
		w.Kept(id, err)
		return nil
	case replaced, meta.IsNoMatchError(err):
		err = nil
	}
	w.Done(Delete, id, "", err)
	return err
}
