package subtree

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

const (
	// reviewed is every how many seconds rights are reviewed; all of a subtree's within rounds of that.
	reviewed, rounds = 5, 12
	// reviewedAtOnce is how many namespaces are asked about in one of them at most.
	reviewedAtOnce = 50
	// patience is how long the rights in a namespace that has joined are waited for: they are copied after it has.
	patience = 30 * time.Second
	// curiosity is how often in a second, at most, an event is reason to ask for a right that was missing. Else a watch of few among
	// many busy namespaces would do nothing but ask.
	curiosity = 10
)

// session is a watch that goes on. All that happened up to position has been told of the namespaces in shown, and of no other.
type session struct {
	*Handler
	*request
	out *events

	// namespaces are those of the subtree.
	namespaces sets.Set[string]
	// shown are those of them where the caller had the right when it was looked at last.
	shown sets.Set[string]
	// everywhere is whether the caller had it in the whole cluster.
	everywhere bool
	position   string
	// live is whether the caller knows what was there at the beginning.
	live bool
	// soon holds namespaces that have joined without the right, until when it is waited for.
	soon map[string]time.Time
	// queue holds the namespaces that are to be reviewed.
	queue []string
	// asked is how often an event was reason to ask in this second.
	asked int
}

// tell tells what has happened in the cluster, if the caller may know it.
func (s *session) tell(ctx context.Context, f frame) error {
	if f.err != nil {
		return f.err
	}
	s.out.learn(f)
	switch watch.EventType(f.Type) {
	case watch.Error:
		s.out.raw(f)
		s.out.flush()
		return errEnded
	case watch.Bookmark:
		s.position = f.id.ResourceVersion
		if s.options.AllowWatchBookmarks {
			s.out.raw(f)
		}
		return nil
	}
	namespace := f.id.Namespace
	shown := s.shown.Has(namespace)
	if shown || s.namespaces.Has(namespace) && s.asked < curiosity {
		allowed, err := s.may(ctx, namespace)
		if err != nil {
			return err
		}
		switch {
		case allowed && shown:
			s.out.pass(f)
		case allowed:
			s.position = f.id.ResourceVersion
			return s.join(ctx, []string{namespace})
		case shown:
			// What has just happened is no longer the caller's to know.
			if err := s.part(ctx, []string{namespace}); err != nil {
				return err
			}
		default:
			s.asked++
		}
	}
	s.position = f.id.ResourceVersion
	return nil
}

// may says whether the caller has the right in a namespace now.
func (s *session) may(ctx context.Context, namespace string) (allowed bool, err error) {
	if s.everywhere {
		if s.everywhere, err = s.rights.in(ctx, metav1.NamespaceAll); err != nil || s.everywhere {
			return s.everywhere, err
		}
	}
	return s.rights.in(ctx, namespace)
}

// regroup follows a change of the subtree.
func (s *session) regroup(ctx context.Context) error {
	names, err := s.members.regrouped(ctx, s.root)
	if err != nil {
		return err
	}
	now := sets.New(names...)
	joined := sets.List(now.Difference(s.namespaces))
	left := sets.List(s.shown.Difference(now))
	s.namespaces = now
	for _, name := range joined {
		s.soon[name] = time.Now().Add(patience)
	}
	if err := s.part(ctx, left); err != nil {
		return err
	}
	return s.ask(ctx, joined)
}

// review asks again for rights: where a namespace has joined lately and, if it is their turn, in some of the others.
func (s *session) review(ctx context.Context, turn bool) error {
	s.asked = 0
	var names []string
	for name, until := range s.soon {
		if s.shown.Has(name) || !s.namespaces.Has(name) || time.Now().After(until) {
			delete(s.soon, name)
			continue
		}
		names = append(names, name)
	}
	if turn {
		everywhere, err := s.rights.in(ctx, metav1.NamespaceAll)
		if err != nil {
			return err
		}
		if everywhere != s.everywhere {
			s.everywhere = everywhere
			return s.ask(ctx, sets.List(s.namespaces))
		}
		if everywhere {
			return nil
		}
		if len(s.queue) == 0 {
			s.queue = sets.List(s.namespaces)
		}
		n := min(len(s.queue), (s.namespaces.Len()+rounds-1)/rounds, reviewedAtOnce)
		names, s.queue = append(names, s.queue[:n]...), s.queue[n:]
	}
	return s.ask(ctx, names)
}

// ask asks for the rights in namespaces, and shows or hides what is in them accordingly.
func (s *session) ask(ctx context.Context, names []string) error {
	allowed, denied, err := s.rights.among(ctx, names)
	if err != nil {
		return err
	}
	if err := s.part(ctx, sets.List(s.shown.Intersection(sets.New(denied...)))); err != nil {
		return err
	}
	return s.join(ctx, sets.List(s.namespaces.Intersection(sets.New(allowed...)).Difference(s.shown)))
}

// since compares the subtree with what it was at the caller's revision. It returns the namespaces that the caller knows, and
// those of them that have left. What was then is read from the tree labels, for they are the one part of the tree that has the
// revisions of kube-apiserver. A namespace too many does no harm: its objects are told again.
func (s *session) since(ctx context.Context, revision string) (before sets.Set[string], left []string) {
	names, err := s.labelled(ctx, s.root, revision)
	if err != nil {
		// Kinds that are stored elsewhere have revisions of their own. A revision that is too old is refused by the watch itself.
		klog.FromContext(ctx).V(2).Info("It is not known what the subtree was", "namespace", s.root, "resourceVersion", revision, "err", err)
		return s.namespaces, nil
	}
	before = sets.New(names...)
	for _, name := range sets.List(before.Difference(s.namespaces)) {
		if !s.lagging(s.root, name) {
			left = append(left, name)
		}
	}
	return before, left
}

// expired is the error by which a caller who can't be told what has gone lists again.
func expired(root string) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("the subtree of namespace %q has changed since; list again", root))
}
