package main

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	propagatortree "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/hierarchy"
)

// What the simulation has: trees of as many namespaces where there are many, and as many sources in each root.
const treeSize, treeSources = 100, 10

// subtreeOf returns how many namespaces are moved in a forest of that size.
func subtreeOf(size int) int { return min(size/10, 1000) }

// simulation is the cache of a cluster: what the propagator holds, and decides by, without any server.
type simulation struct {
	tree *propagatortree.Tree
	rolebindings
	trees []tree
	// parts is among how many propagators the trees are shared; this one has every so manieth.
	parts int
	// moved is the tree that moves, whose root is below the namespace old or new.
	moved    tree
	old, new string
	// listed are the records of what was read.
	listed  []*copies.Object
	version int
}

// newSimulation returns an empty cache of a cluster of that size.
func newSimulation(size, trees, parts int) *simulation {
	s := &simulation{tree: propagatortree.New(managedkeys.Default()), parts: parts, old: "old", new: "new"}
	s.rolebindings = newRoleBindings(s.next)
	s.moved = plan("moved", "mixed", subtreeOf(size))
	for i := range trees {
		s.trees = append(s.trees, plan(fmt.Sprintf("tree-%d", i), "mixed", size/trees))
	}
	return s
}

func (s *simulation) next() string {
	s.version++
	return fmt.Sprint(s.version)
}

// read has the records of all sources and copies made from what the API server would list.
func (s *simulation) read() (int, error) {
	for i, t := range s.trees {
		if i%s.parts == 0 {
			if err := s.list(t.root(), t.names[1:]); err != nil {
				return 0, err
			}
		}
	}
	if err := s.list(s.new, nil); err != nil {
		return 0, err
	}
	return 1, s.list(s.old, s.moved.names)
}

// list adds the sources of a namespace, and their copies.
func (s *simulation) list(namespace string, below []string) error {
	for i := range treeSources {
		objects := []rbacv1.RoleBinding{s.binding(namespace, sourceName(namespace, i), "", "1")}
		for _, name := range below {
			objects = append(objects, s.binding(name, sourceName(namespace, i), namespace, "1"))
		}
		records, err := s.records(objects)
		if err != nil {
			return err
		}
		s.listed = append(s.listed, records...)
	}
	return nil
}

// enter enters all namespaces and hierarchies, with labels and status as expected, and the records.
func (s *simulation) enter() (int, error) {
	parents := s.parents()
	for name := range parents {
		s.namespace(name)
	}
	// Maps have no order, and neither have lists: parents are entered after their children, too.
	for name, parent := range parents {
		s.parent(name, parent)
	}
	for _, o := range s.listed {
		s.set(o)
	}
	for _, name := range s.tree.Names() {
		s.update(name)
	}
	if len(s.trees) > 1 {
		return 1, nil
	}
	// The subtree that will move inherits from the root of the one tree, too.
	for _, name := range append([]string{s.old, s.new}, s.moved.names...) {
		_, writes := s.objects.DecideAll(namespacestate.Destination(s.tree, name))
		for _, w := range writes {
			s.wrote(w)
		}
	}
	return 1, nil
}

// parents returns the parent of each namespace, "" for none.
func (s *simulation) parents() map[string]string {
	parents := map[string]string{s.old: "", s.new: ""}
	if len(s.trees) == 1 {
		parents[s.old], parents[s.new] = s.trees[0].root(), s.trees[0].root()
	}
	for _, t := range append(slices.Clone(s.trees), s.moved) {
		for i, name := range t.names {
			parents[name] = t.parent(i)
		}
	}
	parents[s.moved.root()] = s.old
	return parents
}

func (s *simulation) namespace(name string) {
	s.tree.SetNamespace(&propagatortree.Namespace{Name: name, UID: types.UID("uid-of-" + name), ResourceVersion: s.next()})
}

func (s *simulation) parent(name, parent string) propagatortree.Affected {
	h := propagatortree.Hierarchy{Namespace: name, UID: types.UID("hierarchy-of-" + name), Owner: types.UID("uid-of-" + name)}
	if known := s.tree.HierarchyRecord(name); known != nil {
		h = *known
	}
	h.Parent, h.ResourceVersion = parent, s.next()
	return s.tree.SetHierarchy(&h)
}

// update makes labels, annotations and status of a namespace as expected, and returns whether they were not.
func (s *simulation) update(name string) bool {
	labels, annotations := namespacestate.LabelChanges(s.tree, name), namespacestate.AnnotationChanges(s.tree, name)
	changed := len(labels)+len(annotations) > 0
	if changed {
		ns := *s.tree.Namespace(name)
		ns.Labels, ns.Annotations = patched(ns.Labels, labels), patched(ns.Annotations, annotations)
		ns.ResourceVersion = s.next()
		s.tree.SetNamespace(propagatortree.NewNamespace(namespaceOf(&ns)))
	}
	if w := hierarchy.Plan(s.tree, name, metav1.Now()); w != nil && w.Hierarchy != nil {
		h := *w.Hierarchy
		h.Status, h.ResourceVersion = w.Status, s.next()
		s.tree.SetHierarchy(&h)
		changed = true
	}
	return changed
}
