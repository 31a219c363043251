package reposync

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// forbiddenFor is how long the account may not list a kind that is in no revision until the kind is forgotten. Roles
// are replaced now and then, and a process may have started in between.
const forbiddenFor = 10 * time.Minute

// watch watches the kinds of the desired objects and those that have been applied before. Kinds whose objects are known
// are recorded in the status before the first write, so that a process that is killed after it knows where to look for
// objects. Of the others, nothing is written.
func (w *worker) watch(ctx context.Context, desired []*plan.Object) error {
	wanted := map[schema.GroupKind]bool{}
	for _, kind := range slices.Concat(kindsOf(desired), kindsOf(w.desired)) {
		if _, ok := w.cluster.Resource(kind); ok {
			wanted[kind] = true
		}
	}
	recorded := map[schema.GroupKind]bool{}
	for _, r := range w.sync.Status.Kinds {
		if kind, served := w.cluster.Kind(schema.GroupResource{Group: r.Group, Resource: r.Resource}); served {
			recorded[kind] = true
		}
	}
	all := maps.Clone(wanted)
	maps.Copy(all, recorded)
	w.unknown = w.cluster.Watch(ctx, slices.Collect(maps.Keys(all)), patience)
	for kind, err := range w.unknown {
		if !wanted[kind] {
			w.unknown[kind] = fmt.Errorf("%w; no commit has this kind any more", err)
		}
	}
	w.forget(ctx, wanted, recorded)
	resources := w.resources(wanted, recorded, writtenKinds(w.cluster.State()))
	if slices.Equal(resources, w.sync.Status.Kinds) {
		return nil
	}
	w.sync.Status.Kinds = resources
	return w.writeStatus(ctx)
}

// forget drops the recorded kinds that no revision has, and that the account has not been allowed to list for a while:
// objects of them that were applied, if any, stay.
func (w *worker) forget(ctx context.Context, wanted, recorded map[schema.GroupKind]bool) {
	now := w.manager.now()
	maps.DeleteFunc(w.forbidden, func(kind schema.GroupKind, _ time.Time) bool {
		return wanted[kind] || !apierrors.IsForbidden(w.unknown[kind])
	})
	for kind, err := range w.unknown {
		since, known := w.forbidden[kind]
		switch {
		case wanted[kind] || !apierrors.IsForbidden(err):
		case !known:
			w.forbidden[kind] = now
		case now.Sub(since) >= forbiddenFor:
			text := fmt.Sprintf("%s is in no commit any more, and the account may not list it: objects of this kind that were applied, if any, stay", kind)
			klog.FromContext(ctx).Info(text)
			w.manager.Events.Event(w.sync, corev1.EventTypeWarning, hnc.ReasonApplyFailed, text)
			delete(w.unknown, kind)
			delete(w.forbidden, kind)
			delete(recorded, kind)
		}
	}
}

// resources returns what the status says of kinds: those of the revisions and of what was written, if their objects are
// known, and the recorded ones whose objects are not.
func (w *worker) resources(wanted, recorded, written map[schema.GroupKind]bool) []metav1.GroupVersionResource {
	var resources, added []metav1.GroupVersionResource
	seen := map[schema.GroupKind]bool{}
	_, incomplete := w.cluster.Scopes()
	for _, r := range w.sync.Status.Kinds {
		kind, served := w.cluster.Kind(schema.GroupResource{Group: r.Group, Resource: r.Resource})
		switch {
		case served && recorded[kind] && !seen[kind] && (wanted[kind] || written[kind] || w.unknown[kind] != nil):
			seen[kind] = true
			resources = append(resources, r)
		case !served && incomplete != nil:
			// It may be served again. Otherwise a kind that is no longer served has no objects.
			resources = append(resources, r)
		}
	}
	for kind := range wanted {
		if resource, ok := w.cluster.Resource(kind); ok && !seen[kind] && w.unknown[kind] == nil {
			added = append(added, metav1.GroupVersionResource{Group: resource.Group, Version: resource.Version, Resource: resource.Resource})
		}
	}
	slices.SortFunc(added, func(a, b metav1.GroupVersionResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	return append(resources, added...)
}

// writtenKinds returns the kinds of which the cluster contains objects that were applied.
func writtenKinds(state *plan.State) map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for id := range state.Live {
		kinds[id.Kind] = true
	}
	for id := range state.Applied {
		kinds[id.Kind] = true
	}
	return kinds
}

// kindsOf returns each kind once: there may be many objects of one.
func kindsOf(desired []*plan.Object) []schema.GroupKind {
	seen := map[schema.GroupKind]bool{}
	var kinds []schema.GroupKind
	for _, o := range desired {
		if !o.Remnant && !seen[o.Kind] {
			seen[o.Kind] = true
			kinds = append(kinds, o.Kind)
		}
	}
	return kinds
}
