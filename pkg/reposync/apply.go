package reposync

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

const (
	// workers is how many objects are written at a time.
	workers = 16
	// patience is how long the lists of all kinds may take.
	patience = time.Minute
	// established is how long a new CustomResourceDefinition may take until it is served.
	established = 30 * time.Second
)

// watch watches the kinds of a result and those that have been applied before. New kinds are recorded in the status first, so that a process that is
// killed after the first write knows where to look for objects.
func (w *worker) watch(ctx context.Context, result *repository.Result) error {
	kinds := map[schema.GroupKind]bool{}
	var resources []metav1.GroupVersionResource
	for _, r := range w.sync.Status.Kinds {
		resource := schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
		// A kind that is no longer served has no objects.
		if kind, ok := w.cluster.Kind(resource); ok && !kinds[kind] {
			kinds[kind] = true
			resources = append(resources, r)
		}
	}
	for _, o := range result.Objects {
		kind := o.GroupKind()
		if kinds[kind] {
			continue
		}
		if resource, ok := w.cluster.Resource(kind); ok {
			kinds[kind] = true
			resources = append(resources, metav1.GroupVersionResource{Group: resource.Group, Version: resource.Version, Resource: resource.Resource})
		}
	}
	if !slices.Equal(resources, w.sync.Status.Kinds) {
		w.sync.Status.Kinds = resources
		if err := w.writeStatus(ctx); err != nil {
			return err
		}
	}
	known := make([]schema.GroupKind, 0, len(kinds))
	for kind := range kinds {
		known = append(known, kind)
	}
	w.unknown = w.cluster.Watch(ctx, known, patience)
	return nil
}

// unsafe returns errors if a revision would delete too many namespaces. It is compared with what the cluster contains of the repository, so that it
// does not matter whether the process knows the previous revision.
func (w *worker) unsafe(after *repository.Result) report.Errors {
	before := &repository.Result{}
	for id, live := range w.cluster.State().Live {
		if id.Kind == object.Namespace && live.Owned != 0 && !live.Terminating {
			o := &object.Object{}
			o.Object = map[string]any{}
			if live.Detached {
				o = o.WithAnnotation(object.AnnotationDeletion, object.DeletionDetach)
			}
			before.Namespaces = append(before.Namespaces, repository.Namespace{Name: id.Name, Object: o})
		}
	}
	return changes.Unsafe(before, after, w.sync.Spec.AllowMassDeletion)
}

// apply writes what differs from the current revision.
func (w *worker) apply(ctx context.Context, done *outcome) {
	done.commit, done.result, done.unknown = w.current.commit, w.result, w.unknown
	// Without a complete view of the cluster, nothing is missing from the repository for certain.
	prune := w.sync.Spec.Prune && len(w.result.Errors) == 0 && len(done.unknown) == 0
	p := plan.Compute(w.desired, w.cluster.State(), prune)
	for phase, objects := range p.Apply {
		w.write(ctx, objects, p, done)
		if phase == plan.PhaseDefinitions && (len(objects) > 0 || w.lacksKinds()) {
			w.awaitDefinitions(ctx, done)
		}
	}
	if done.failures == 0 || len(p.Delete)+len(p.DeleteNamespaces)+len(p.Release) > 0 {
		w.prune(ctx, p, done)
	}
	done.conclude()
}

// write applies objects concurrently.
func (w *worker) write(ctx context.Context, objects []*plan.Object, p *plan.Plan, done *outcome) {
	jobs := make(chan *plan.Object)
	var running sync.WaitGroup
	for range min(workers, len(objects)) {
		running.Go(func() {
			for o := range jobs {
				err := done.unknown[o.Kind]
				if err == nil {
					err = w.cluster.Apply(ctx, o)
				}
				w.manager.Metrics.write(w.sync.Name, operationApply, err)
				done.add(o.ID, o.Path, err)
			}
		})
	}
	for _, o := range objects {
		now := w.manager.now()
		if p.Drifted[o.ID] {
			if !w.fights.Correct(o.ID, now) {
				done.fight(o, w.fights.Next(o.ID, now))
				continue
			}
			w.manager.Metrics.drift(w.sync.Name)
			klog.FromContext(ctx).Info("Another client has changed an object; applying it again", "object", o.String())
		}
		jobs <- o
	}
	close(jobs)
	running.Wait()
}

// awaitDefinitions waits until the cluster serves the kinds of new CustomResourceDefinitions that the repository has objects of, and watches them.
func (w *worker) awaitDefinitions(ctx context.Context, done *outcome) {
	ctx, cancel := context.WithTimeout(ctx, established)
	defer cancel()
	for {
		if err := w.cluster.Refresh(ctx); err == nil && !w.lacksKinds() {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(250 * time.Millisecond):
		}
	}
	if err := w.watch(ctx, w.result); err != nil {
		done.add(plan.ID{Kind: object.CRD}, "", err)
	}
	done.unknown = w.unknown
}

// lacksKinds reports whether the cluster does not serve a kind of the repository.
func (w *worker) lacksKinds() bool {
	return slices.ContainsFunc(w.desired, func(o *plan.Object) bool {
		_, ok := w.cluster.Resource(o.Kind)
		return !ok
	})
}

// prune deletes and releases what has left the repository.
func (w *worker) prune(ctx context.Context, p *plan.Plan, done *outcome) {
	if !w.sync.Spec.AllowNonEmptyNamespaceDeletion {
		keep := map[string]bool{}
		for _, id := range p.DeleteNamespaces {
			found, err := w.cluster.InUse(ctx, id.Name)
			if err == nil && found != "" {
				err = fmt.Errorf("the namespace is not deleted, because it contains objects that are not from the repository: %s; "+
					"remove them, or set spec.allowNonEmptyNamespaceDeletion", found)
			}
			if err != nil {
				keep[id.Name] = true
				done.add(id, "", err)
			}
		}
		p.Keep(keep)
	}
	for _, id := range p.Release {
		err := w.cluster.Release(ctx, id)
		w.manager.Metrics.write(w.sync.Name, operationRelease, err)
		done.add(id, "", err)
	}
	for _, id := range slices.Concat(p.Delete, p.DeleteNamespaces) {
		if ctx.Err() != nil {
			return
		}
		err := w.cluster.Delete(ctx, id)
		if meta.IsNoMatchError(err) {
			err = nil
		}
		w.manager.Metrics.write(w.sync.Name, operationDelete, err)
		done.add(id, "", err)
	}
}

// message returns the text of an error for a status, bounded.
func message(err error) string {
	const limit = 1024
	text := report.Printable(err.Error())
	if len(text) > limit {
		text = text[:limit] + " ..."
	}
	return text
}
