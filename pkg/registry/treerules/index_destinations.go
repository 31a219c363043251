package treerules

import (
	"context"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	seen "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// ancestorsWithin returns the ancestors of each namespace inside a subtree, its parent first.
func ancestorsWithin(nodes []Node) map[string][]string {
	above := make(map[string][]string, len(nodes))
	for _, n := range nodes[1:] {
		above[n.Name] = append([]string{n.Parent}, above[n.Parent]...)
	}
	return above
}

// writable reports whether the propagator writes in the namespace.
func (n Node) writable() bool { return n.Namespace != nil && n.Namespace.DeletionTimestamp == nil }

// movedDestinations returns the namespaces of a subtree as they are after its top, whose chain was before, has moved to
// the parent with the given chain. A namespace of the chain that is in the subtree was moved there after the chain had
// been read, so the move will be validated again, and it is not a destination of its own objects.
func (o *Overwrites) movedDestinations(ctx context.Context, nodes []Node, before, chain []string) iter.Seq[copies.Destination] {
	t, old := o.treeAfter(ctx, nodes, chain), slices.Clone(before[1:])
	slices.Reverse(old)
	return func(yield func(copies.Destination) bool) {
		for _, name := range plan.Scope(t, nodes[0].Name) {
			d := namespacestate.Destination(t, name, hnc.LabelHasSubnamespaces, hnc.LabelOrphaned)
			if t.Halted(name) || len(d.Ancestors) < len(chain) { // It gets no copies, or is excluded and gets no parent.
				continue
			}
			unmoved := copies.Destination{Namespace: name, Ancestors: slices.Concat(old, d.Ancestors[len(chain):]), Labels: o.index.labels}.Remember()
			if d.Before = &unmoved; !yield(d) {
				return
			}
		}
	}
}

// treeAfter returns a subtree, and the chain of the parent to which its top moves, as they are after the request. It
// reads their hierarchies from the cache of this server. Hierarchies that it cannot read set nothing, and missing
// namespaces count as if they existed. It has the Subnamespace of the request only: labels that follow from others,
// which no move changes, stay as they are, and so do Pod Security labels that no hierarchy sets.
func (o *Overwrites) treeAfter(ctx context.Context, nodes []Node, chain []string) *seen.Tree {
	t, above := seen.New(o.config.Rules()), ""
	for _, name := range slices.Backward(chain) {
		namespace, _ := o.config.Namespaces.Get(name)
		o.record(ctx, t, Node{Name: name, Parent: above, Namespace: namespace}, false)
		above = name
	}
	o.record(ctx, t, Node{Name: nodes[0].Name, Parent: above, Namespace: nodes[0].Namespace}, true)
	for _, n := range nodes[1:] {
		if t.Namespace(n.Name) == nil {
			o.record(ctx, t, n, false)
		}
	}
	return t
}

// record adds a namespace and what sets its labels to the tree. The hierarchy of one that moves is bound to it with the
// move; a void one of another has no effect.
func (o *Overwrites) record(ctx context.Context, t *seen.Tree, n Node, moves bool) {
	if n.Namespace == nil {
		n.Namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: n.Parent}}}
	}
	t.SetNamespace(seen.NewNamespace(n.Namespace))
	stored, _ := o.hierarchies(ctx, n.Name)
	switch requested := ctx.Value(requestKey{}).(type) {
	case *hnc.Hierarchy:
		if requested.Namespace == n.Name {
			stored = requested
		}
	case *hnc.Subnamespace:
		var s v1beta1.Subnamespace
		if requested.Name == n.Name && v1beta1.Convert_hnc_Subnamespace_To_v1beta1_Subnamespace(requested, &s, nil) == nil {
			t.SetSubnamespace(seen.NewSubnamespace(&s))
		}
	}
	if h, err := HierarchyRecord(stored); err == nil && h != nil {
		if t.SetHierarchy(h); !moves && t.Hierarchy(n.Name) == nil {
			t.DeleteHierarchy(n.Name, h.UID)
		}
	}
	plan.Move(t, n.Name, n.Parent)
}

// labels returns the labels of a namespace, none if it does not exist.
func (i *Index) labels(namespace string) map[string]string {
	ns, err := i.config.Namespaces.Get(namespace)
	if err != nil {
		return nil
	}
	return ns.Labels
}

// destinationsBelow returns those of the destinations that are descendants of a namespace. It reads only these and its
// ancestors.
func (i *Index) destinationsBelow(name string) iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		top, err := i.config.Namespaces.Get(name)
		chain := i.activeChain(name)
		if err != nil || chain == nil {
			return
		}
		nodes := i.Subtree(top)
		inner := ancestorsWithin(nodes)
		for _, n := range nodes[1:] {
			if !n.writable() {
				continue
			}
			above := slices.Concat(inner[n.Name], chain[1:])
			slices.Reverse(above)
			if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: i.labels}.Remember()) {
				return
			}
		}
	}
}

// activeChain returns a namespace and its ancestors by effective edges, the root last, nil if what is below the root is
// halted.
func (i *Index) activeChain(name string) []string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	chain := i.forest.Chain(name)
	for depth, at := range chain {
		namespace, err := i.config.Namespaces.Get(at)
		if err != nil {
			namespace = nil
		}
		if i.parent(at, namespace) != "" {
			continue
		}
		if namespace == nil || i.config.Rules().Excluded(at, namespace.Labels) != "" {
			return nil
		}
		return chain[:depth+1]
	}
	return nil
}

// destinations returns all namespaces of all trees as they are, except descendants of a namespace whose parent is gone:
// these are halted.
func (i *Index) destinations() iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		for _, root := range i.roots() {
			nodes := i.Subtree(root)
			inner := ancestorsWithin(nodes)
			for _, n := range nodes {
				if !n.writable() {
					continue
				}
				above := slices.Clone(inner[n.Name])
				slices.Reverse(above)
				if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: i.labels}.Remember()) {
					return
				}
			}
		}
	}
}
