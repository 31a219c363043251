package reposync

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/writer"
)

const (
	// patience is how long the lists of all kinds may take.
	patience = time.Minute
	// established is how long a new CustomResourceDefinition may take until it is served.
	established = 30 * time.Second
)

// watch watches the kinds of the desired objects and those that have been applied before. New kinds are recorded in the status first, so that a process that is
// killed after the first write knows where to look for objects.
func (w *worker) watch(ctx context.Context, desired []*plan.Object) error {
	kinds := map[schema.GroupKind]bool{}
	var resources []metav1.GroupVersionResource
	_, incomplete := w.cluster.Scopes()
	for _, r := range w.sync.Status.Kinds {
		kind, served := w.cluster.Kind(schema.GroupResource{Group: r.Group, Resource: r.Resource})
		switch {
		case served && !kinds[kind]:
			kinds[kind] = true
			resources = append(resources, r)
		case !served && incomplete != nil:
			// It may be served again. Otherwise a kind that is no longer served has no objects.
			resources = append(resources, r)
		}
	}
	for _, kind := range kindsOf(desired) {
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

// apply writes what differs from the current revision.
func (w *worker) apply(ctx context.Context, done *outcome) {
	done.commit, done.result, done.unknown = w.current.commit, w.result, w.unknown
	// Without a complete view of the cluster, nothing is missing from the repository for certain.
	prune := w.sync.Spec.Prune && !w.unverified && len(w.result.Errors) == 0 && len(done.unknown) == 0
	p := plan.Compute(w.desired, w.cluster.State(), prune)
	var carry *writer.Writer
	carry = &writer.Writer{
		Cluster: w.cluster, Unknown: done.unknown,
		Permit: func(o *plan.Object) bool { return w.permit(ctx, o, p, done) },
		Defined: func(ctx context.Context, written int) {
			if written > 0 || w.lacksKinds() {
				w.awaitDefinitions(ctx, done)
				carry.Unknown = done.unknown
			}
		},
		Done: func(operation writer.Operation, id plan.ID, path string, err error) {
			w.manager.Metrics.write(w.sync.Name, operation, err)
			done.add(id, path, err)
		},
	}
	carry.Apply(ctx, p)
	if !w.sync.Spec.AllowNonEmptyNamespaceDeletion {
		for id, reason := range carry.KeepInUse(ctx, p) {
			done.add(id, "", reason)
		}
	}
	carry.Prune(ctx, p)
	done.conclude()
}

// permit returns false for an object that another client changes again and again, and that is not to be corrected yet.
func (w *worker) permit(ctx context.Context, o *plan.Object, p *plan.Plan, done *outcome) bool {
	if !p.Drifted[o.ID] {
		return true
	}
	now := w.manager.now()
	if !w.fights.Correct(o.ID, now) {
		done.fight(o, w.fights.Next(o.ID, now))
		return false
	}
	w.manager.Metrics.drift(w.sync.Name)
	klog.FromContext(ctx).Info("Another client has changed an object; applying it again", "object", o.String())
	return true
}

// awaitDefinitions waits until the cluster serves the kinds of new CustomResourceDefinitions that the repository has objects of, and watches them.
func (w *worker) awaitDefinitions(ctx context.Context, done *outcome) {
	if !w.cluster.AwaitKinds(ctx, kindsOf(w.desired), established) {
		return
	}
	if err := w.watch(ctx, w.desired); err != nil {
		done.add(plan.ID{Kind: object.CRD}, "", err)
	}
	done.unknown = w.unknown
}

func kindsOf(desired []*plan.Object) []schema.GroupKind {
	kinds := make([]schema.GroupKind, 0, len(desired))
	for _, o := range desired {
		if !o.Remnant {
			kinds = append(kinds, o.Kind)
		}
	}
	return kinds
}

// lacksKinds reports whether the cluster does not serve a kind of the repository.
func (w *worker) lacksKinds() bool {
	return slices.ContainsFunc(w.desired, func(o *plan.Object) bool {
		_, ok := w.cluster.Resource(o.Kind)
		return !ok && !o.Remnant
	})
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
