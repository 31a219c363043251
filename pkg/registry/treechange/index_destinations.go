package treechange

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
// been read, so the move will be validated again, and it is not a destination of its own objects. labels returns the
// labels of a namespace after the move.
func movedDestinations(nodes []Node, before, chain []string, labels func(namespace string) map[string]string) iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		inner := ancestorsWithin(nodes)
		for _, n := range nodes {
			if !n.writable() || slices.Contains(chain, n.Name) {
				continue
			}
			above, old := slices.Concat(inner[n.Name], chain), append(append([]string{}, inner[n.Name]...), before[1:]...)
			slices.Reverse(above)
			slices.Reverse(old)
			if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: labels, Before: old}.Remember()) {
				return
			}
		}
	}
}

// labelsAfter returns the labels that namespaces have after the top of a subtree has moved to the parent with the given
// chain: those that the propagator will write, computed by its functions from the namespaces that are asked for and
// their ancestors. It reads their hierarchies from the cache of this server, at most one for each namespace. Hierarchies
// that it cannot read set nothing, and missing namespaces count as if they existed. Labels that follow from
// Subnamespaces, which no move changes, stay as they are, and so do Pod Security labels that no hierarchy sets.
func (o *Overwrites) labelsAfter(ctx context.Context, nodes []Node, chain []string) func(namespace string) map[string]string {
	t, after, above := seen.New(o.config.Rules()), make(map[string]Node, len(nodes)), ""
	for _, n := range nodes {
		after[n.Name] = n
	}
	for _, name := range slices.Backward(chain) {
		namespace, _ := o.config.Namespaces.Get(name)
		after[name], above = Node{Name: name, Parent: above, Namespace: namespace}, name
	}
	after[nodes[0].Name] = Node{Name: nodes[0].Name, Parent: above, Namespace: nodes[0].Namespace}
	return func(namespace string) map[string]string {
		for n := after[namespace]; n.Name != "" && t.Namespace(n.Name) == nil; n = after[n.Parent] {
			if n.Namespace == nil {
				n.Namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
			}
			t.SetNamespace(seen.NewNamespace(n.Namespace))
			var h v1beta1.Hierarchy
			stored, err := o.hierarchies(ctx, n.Name)
			if err == nil && v1beta1.Convert_hnc_Hierarchy_To_v1beta1_Hierarchy(stored, &h, nil) == nil {
				t.SetHierarchy(seen.NewHierarchy(&h))
			}
			plan.Move(t, n.Name, n.Parent)
		}
		return namespacestate.FutureLabels(t, namespace, hnc.LabelHasSubnamespaces, hnc.LabelOrphaned)
	}
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
