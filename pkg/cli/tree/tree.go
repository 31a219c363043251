// Package tree holds trees of namespaces as the plugin has read them, and prints them as text. It has no clients and
// accepts any data: it takes time proportional to its output, works on chains of any length, and terminates on cycles.
package tree

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Node is a namespace.
type Node struct {
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"`
	// AbstractAncestors are the names above a root that are not namespaces, the nearest first.
	AbstractAncestors []string `json:"abstractAncestors,omitempty"`
	Subnamespace      bool     `json:"subnamespace"`
	// Deleting reports that the namespace is being deleted.
	Deleting bool `json:"deleting,omitempty"`
	// Children are sorted.
	Children []string `json:"children,omitempty"`
	// Conditions are those that report a problem.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Objects are those of the requested kind.
	Objects []Object `json:"objects,omitempty"`

	exists bool
}

// Object is an object in a namespace.
type Object struct {
	Name string `json:"name"`
	// InheritedFrom is the namespace of the source of a copy, empty for any other object.
	InheritedFrom string `json:"inheritedFrom,omitempty"`
}

// Tree is a set of namespaces.
type Tree struct{ nodes map[string]*Node }

// New returns a tree without namespaces.
func New() *Tree { return &Tree{nodes: map[string]*Node{}} }

func (t *Tree) node(name string) *Node {
	n := t.nodes[name]
	if n == nil {
		n = &Node{Name: name}
		t.nodes[name] = n
	}
	return n
}

// AddNamespace records that a namespace exists, whether it is a sub-namespace, and whether it is being deleted.
func (t *Tree) AddNamespace(name string, subnamespace, deleting bool) {
	n := t.node(name)
	n.exists, n.Subnamespace, n.Deleting = true, subnamespace, deleting
}

// AddHierarchy records a namespace's parent and conditions.
func (t *Tree) AddHierarchy(name, parent string, conditions []metav1.Condition) {
	n := t.node(name)
	n.Parent = parent
	n.Conditions = Problems(conditions)
}

// AddAbstractAncestors records the names above a namespace that are not namespaces, the nearest first.
func (t *Tree) AddAbstractAncestors(name string, above []string) {
	t.node(name).AbstractAncestors = above
}

// AddObject records an object in a namespace.
func (t *Tree) AddObject(namespace, name, inheritedFrom string) {
	n := t.node(namespace)
	n.Objects = append(n.Objects, Object{Name: name, InheritedFrom: inheritedFrom})
}

// Link sets the children of all namespaces. Call it once, after everything is added.
func (t *Tree) Link() {
	for _, n := range t.nodes {
		if n.exists && n.Parent != "" {
			p := t.node(n.Parent)
			p.Children = append(p.Children, n.Name)
		}
	}
	for _, n := range t.nodes {
		slices.Sort(n.Children)
		slices.SortFunc(n.Objects, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
	}
}

// Get returns a namespace, nil for one that does not exist.
func (t *Tree) Get(name string) *Node {
	if n := t.nodes[name]; n != nil && n.exists {
		return n
	}
	return nil
}

// Roots returns the sorted namespaces from which all others can be reached: those without a parent or whose parent does
// not exist, and the first member of each cycle.
func (t *Tree) Roots() []string {
	var roots []string
	// Each root is searched for once: namespaces below a known one are skipped.
	known := map[string]bool{}
	for name, n := range t.nodes {
		if !n.exists {
			continue
		}
		var path []string
		at := map[string]int{}
		for !known[name] {
			if i, seen := at[name]; seen {
				roots = append(roots, slices.Min(path[i:]))
				break
			}
			at[name] = len(path)
			path = append(path, name)
			parent := t.nodes[name].Parent
			if parent == "" || t.Get(parent) == nil {
				roots = append(roots, name)
				break
			}
			name = parent
		}
		for _, passed := range path {
			known[passed] = true
		}
	}
	slices.Sort(roots)
	return roots
}

// Visit is a namespace on a walk.
type Visit struct {
	*Node
	// Depth is the distance from the root of the walk.
	Depth int
	// Last says that no sibling follows.
	Last bool
	// Abstract says that it is not a namespace of the cluster.
	Abstract bool
	// Again says that the walk has been here before, which happens in cycles only; it does not continue below.
	Again bool
}

// Walk visits root and everything below it, parents first and siblings sorted, until visit returns false.
func (t *Tree) Walk(root string, visit func(Visit) bool) {
	start := t.Get(root)
	if start == nil {
		return
	}
	seen := map[string]bool{}
	stack := []Visit{{Node: start, Last: true}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		v.Again = seen[v.Name]
		seen[v.Name] = true
		if !visit(v) {
			return
		}
		if v.Again {
			continue
		}
		for i := len(v.Children) - 1; i >= 0; i-- {
			stack = append(stack, Visit{Node: t.nodes[v.Children[i]], Depth: v.Depth + 1, Last: i == len(v.Children)-1})
		}
	}
}

// Problems returns the conditions that report a problem. Ready summarizes the others, so it is returned only when it
// stands alone.
func Problems(conditions []metav1.Condition) []metav1.Condition {
	var problems, unready []metav1.Condition
	for _, c := range conditions {
		switch {
		case c.Type != hnc.ConditionReady && c.Status == metav1.ConditionTrue:
			problems = append(problems, c)
		case c.Type == hnc.ConditionReady && c.Status == metav1.ConditionFalse:
			unready = append(unready, c)
		}
	}
	if len(problems) == 0 {
		return unready
	}
	return problems
}

// FormatCondition formats a condition as docs/spec/hnc.md 4.1 has it.
func FormatCondition(c metav1.Condition) string {
	return fmt.Sprintf("%s (%s): %s", c.Type, c.Reason, c.Message)
}
