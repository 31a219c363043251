package copies

import (
	"context"
	"fmt"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// A RoleBinding that refers to a Role is copied only to where that Role is the one of its own namespace; package
// pkg/model/copies decides that. So its copies are evaluated again when a Role changes.

// bindings returns the kind RoleBinding and its number, nil while it is skipped.
func bindings(s *cache.State) (int, *cache.Kind) {
	kind, known := s.KindOf(copies.RoleBindings.GroupResource())
	if !known || !s.Kind(kind).Synced {
		return 0, nil
	}
	return kind, s.Kind(kind)
}

// syncBound enqueues what a Role affects besides its own copies: the RoleBindings in its namespace that refer to it,
// and RoleBindings there and in descendants.
func (c *Controller) syncBound(namespace, role string, descendants []string) {
	kind, sources := 0, []string(nil)
	c.Cache.Read(func(s *cache.State) {
		var k *cache.Kind
		if kind, k = bindings(s); k != nil && s.Tree.HasChildren(namespace) {
			for b := range k.Index.Bindings(namespace, role) {
				sources = append(sources, b.Name)
			}
		}
	})
	for _, name := range sources {
		c.sourceChanged(kind, namespace, name)
	}
	for _, at := range append([]string{namespace}, descendants...) {
		c.syncBoundCopies(at, role)
	}
}

// syncBoundCopies enqueues the RoleBindings in a namespace that refer to a Role, and have to be written or removed.
func (c *Controller) syncBoundCopies(namespace, role string) {
	kind, names := 0, []string(nil)
	c.Cache.Read(func(s *cache.State) {
		var k *cache.Kind
		if kind, k = bindings(s); k == nil {
			return
		}
		for _, ancestor := range append(s.Tree.Ancestors(namespace), namespace) {
			for b := range k.Index.Bindings(ancestor, role) {
				names = append(names, b.Name)
			}
		}
	})
	slices.Sort(names)
	names = slices.Compact(names)
	// Any number of RoleBindings may refer to a Role, and nobody waits for all of them.
	for len(names) > 0 {
		names = c.Cache.ReadSome(names, func(s *cache.State) func(string) {
			d := namespacestate.Destination(s.Tree, namespace)
			return func(name string) {
				if w := decideAt(s, kind, d, name); w != nil {
					c.Queue.Add(keyOf(kind, w))
				}
			}
		})
	}
}

// withholds reports whether a source is not copied to a namespace only because of the Role that it refers to. The
// namespace may have left the subtree of the source.
func withholds(s *cache.State, kind int, source *copies.Object, namespace string) bool {
	return source.BindsRole() != "" && s.Kind(kind).Synced && !s.Tree.Frozen(namespace) &&
		slices.Contains(s.Tree.Ancestors(namespace), source.Namespace) && s.Kind(kind).Index.Withheld(source, namespacestate.Destination(s.Tree, namespace))
}

// awaitsBinding reports whether a Role must not be written yet, because a RoleBinding in its namespace refers to what
// the name has meant so far, and returns the name of one.
func (c *Controller) awaitsBinding(w copies.Write) (binding string, awaits bool) {
	if !w.Arrives() {
		return "", false
	}
	c.Cache.Read(func(s *cache.State) {
		_, k := bindings(s)
		if k == nil {
			awaits = true // They are not listed yet.
			return
		}
		for b := range k.Index.Bound(w, namespacestate.Destination(s.Tree, w.Namespace)) {
			binding, awaits = b.Name, true
			return
		}
	})
	return binding, awaits
}

// confirmInvalid confirms with the API server that a RoleBinding does not refer to the Role from above already. The
// cache of Roles may be older than that of RoleBindings.
func (c *Controller) confirmInvalid(ctx context.Context, w copies.Write) error {
	if w.Role == nil {
		return nil
	}
	_, from, err := c.Client.Read(ctx, copies.Roles, w.Namespace, w.Role.Name)
	switch {
	case copies.Gone(err):
		return nil
	case err != nil:
		return err
	case from == w.Role.Namespace:
		return fmt.Errorf("%w: namespace %q has inherited role %q", outcome.ErrStale, w.Namespace, names.Shorten(w.Role.Name))
	}
	return nil
}
