package subtree

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// recheckTicks is the number of recheckPeriods between two rounds of permission checks. recheckRounds rounds
	// cover the whole subtree, if all decisions are due.
	recheckTicks, recheckRounds = 5, 12
	// maxRechecks bounds the namespaces of one round.
	maxRechecks = 50
	// grantTimeout bounds how long the permissions in a new namespace are awaited: they are copied there after it
	// joins.
	grantTimeout = 30 * time.Second
	// maxGrantChecks bounds how often per second an event triggers a permission check. A watch of few among many busy
	// namespaces would otherwise do nothing else.
	maxGrantChecks = 10
)

// watcher is a running watch. All events up to position have been sent for the visible namespaces, and none for
// others.
type watcher struct {
	*handler
	*request
	out *eventWriter
	// cancel ends the watch.
	cancel context.CancelFunc
	// events are those of the cluster.
	events *feed

	// namespaces are the namespaces of the subtree, as in membership unless that is nil.
	namespaces sets.Set[string]
	membership *membership
	// visible are those in which the caller was allowed at the last check.
	visible sets.Set[string]
	// clusterWide is whether the caller was allowed in the whole cluster.
	clusterWide bool
	position    string
	// started is whether the caller has received the initial objects.
	started bool
	// awaitingGrant holds the namespaces that joined without permission, and until when it is awaited.
	awaitingGrant map[string]time.Time
	// leaving holds the namespaces that have left the tree, but still have its label, and in which the caller is not
	// allowed. Whether the caller has seen their objects is only known once the label is removed.
	leaving []string
	// recheckQueue holds the namespaces of the current recheck.
	recheckQueue []string
	// grantChecks counts the checks that events have triggered in this second.
	grantChecks int
}

// handleEvent sends an event of the cluster if the caller is allowed to see it.
func (w *watcher) handleEvent(ctx context.Context, e rawEvent) error {
	w.out.rememberColumns(e)
	switch watch.EventType(e.Type) {
	case watch.Error:
		w.out.writeRaw(e)
		w.out.flush()
		return errWatchEnded
	case watch.Bookmark:
		w.position = e.meta.ResourceVersion
		if w.options.AllowWatchBookmarks {
			w.out.writeRaw(e)
		}
		return nil
	}
	namespace := e.meta.Namespace
	visible := w.visible.Has(namespace)
	if visible || w.namespaces.Has(namespace) && w.grantChecks < maxGrantChecks {
		allowed, err := w.allowed(ctx, namespace)
		if err != nil {
			return err
		}
		switch {
		case allowed && visible:
			w.out.forward(e)
		case allowed:
			w.position = e.meta.ResourceVersion
			return w.addNamespaces(ctx, []string{namespace})
		case visible:
			// The caller must not see this event any more.
			if err := w.removeNamespaces(ctx, []string{namespace}); err != nil {
				return err
			}
		default:
			w.grantChecks++
		}
	}
	w.position = e.meta.ResourceVersion
	return nil
}

// allowed reports whether the caller is allowed in a namespace now.
func (w *watcher) allowed(ctx context.Context, namespace string) (allowed bool, err error) {
	if w.clusterWide {
		if w.permissions.decisions.holds(metav1.NamespaceAll) {
			return true, nil
		}
		if w.clusterWide, err = w.permissions.allowedIn(ctx, metav1.NamespaceAll); err != nil || w.clusterWide {
			return w.clusterWide, err
		}
	}
	if w.permissions.decisions.holds(namespace) {
		return true, nil
	}
	return w.permissions.allowedIn(ctx, namespace)
}

// updateMembers follows a change of the subtree.
func (w *watcher) updateMembers(ctx context.Context) error {
	membership, err := w.members.cachedSubtree(ctx, w.root)
	if err != nil || membership == w.membership {
		return err
	}
	w.membership = membership
	now := sets.New(membership.names...)
	joined := sets.List(now.Difference(w.namespaces))
	left := sets.List(w.visible.Difference(now))
	w.permissions.decisions.forget(sets.List(w.namespaces.Difference(now))...)
	w.namespaces = now
	for _, name := range joined {
		w.awaitingGrant[name] = time.Now().Add(grantTimeout)
	}
	if err := w.removeNamespaces(ctx, left); err != nil {
		return err
	}
	return w.applyPermissions(ctx, joined)
}

// recheckPermissions checks the permissions in namespaces that await a grant and, if round is set, in a share of the
// others.
func (w *watcher) recheckPermissions(ctx context.Context, round bool) error {
	w.grantChecks = 0
	if err := w.checkLeaving(); err != nil {
		return err
	}
	var names []string
	for name, until := range w.awaitingGrant {
		if w.visible.Has(name) || !w.namespaces.Has(name) || time.Now().After(until) {
			delete(w.awaitingGrant, name)
			continue
		}
		names = append(names, name)
	}
	if round {
		if w.permissions.decisions.due(metav1.NamespaceAll) {
			clusterWide, err := w.permissions.allowedIn(ctx, metav1.NamespaceAll)
			if err != nil {
				return err
			}
			if clusterWide != w.clusterWide {
				w.clusterWide = clusterWide
				return w.applyPermissions(ctx, sets.List(w.namespaces))
			}
		}
		if w.clusterWide {
			return nil
		}
		if len(w.recheckQueue) == 0 {
			w.recheckQueue = slices.DeleteFunc(sets.List(w.namespaces), func(name string) bool { return !w.permissions.decisions.due(name) })
		}
		n := min(len(w.recheckQueue), (w.namespaces.Len()+recheckRounds-1)/recheckRounds, maxRechecks)
		names, w.recheckQueue = append(names, w.recheckQueue[:n]...), w.recheckQueue[n:]
	}
	return w.applyPermissions(ctx, names)
}

// applyPermissions checks the permissions in namespaces and adds or removes them accordingly.
func (w *watcher) applyPermissions(ctx context.Context, names []string) error {
	allowed, denied, err := w.permissions.partition(ctx, names)
	if err != nil {
		return err
	}
	if err := w.removeNamespaces(ctx, sets.List(w.visible.Intersection(sets.New(denied...)))); err != nil {
		return err
	}
	return w.addNamespaces(ctx, sets.List(w.namespaces.Intersection(sets.New(allowed...)).Difference(w.visible)))
}

// membersAt compares the subtree with that at the caller's revision. It returns the namespaces that the caller has
// seen, and those of them that have left. The old members are read from the tree labels, the only part of the tree
// with kube-apiserver's revisions. An extra namespace is harmless: its objects are sent again, or removed from a caller
// who does not have them. If they cannot be read, the caller lists or tries again. The revisions of some kinds say
// nothing about them: they are taken for the present ones.
func (w *watcher) membersAt(ctx context.Context, revision string) (before sets.Set[string], left []string, err error) {
	if w.otherRevisions(w.reader.kind.GroupVersionResource) {
		return w.namespaces, nil, nil
	}
	names, err := w.labeledAt(ctx, w.root, revision, w.reader.memory)
	if apierrors.IsResourceExpired(err) {
		return nil, nil, expired(w.root)
	}
	if err != nil {
		return nil, nil, err
	}
	before = sets.New(names...)
	return before, sets.List(before.Difference(w.namespaces)), nil
}

// checkLeaving makes the caller list again once a namespace of leaving has lost its label: not earlier, because a list
// would begin with the label, too. Without the propagator, the caller would list again for ever.
func (w *watcher) checkLeaving() error {
	var leaving []string
	for _, name := range w.leaving {
		if w.stillLabeled(w.root, name) {
			leaving = append(leaving, name)
		} else if !w.namespaces.Has(name) {
			return expired(w.root)
		}
	}
	w.leaving = leaving
	return nil
}

// expired makes a caller list again when the removed objects cannot be determined.
func expired(root string) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("the subtree of namespace %q has changed since; list again", root))
}
