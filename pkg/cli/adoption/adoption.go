// Package adoption decides which parents namespaces get by what labels and annotations say about them: HNC's tree
// labels, or those of other tools. It is pure.
package adoption

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Move gives a namespace a parent.
type Move struct{ Namespace, Parent string }

// Source says where the parent of a namespace is found. Exactly one of TreeLabels, Label and Annotation is set.
type Source struct {
	// TreeLabels reads the labels <ancestor>.tree.hnc.x-k8s.io/depth, as HNC has left them.
	TreeLabels bool
	// Label and Annotation are keys whose value names the parent.
	Label, Annotation string
	// Prefix is put before the value.
	Prefix string
	// Selector selects the namespaces that get a parent; nil selects all.
	Selector labels.Selector
}

// Moves returns the parents that the source gives to namespaces, parents before their children, and an error that names
// all those that it can't give: parents that don't exist, and cycles. Namespaces that it says nothing about, and those
// that it names as their own parents, are left alone.
func Moves(namespaces []metav1.PartialObjectMetadata, source Source) ([]Move, error) {
	known := map[string]bool{}
	for i := range namespaces {
		known[namespaces[i].Name] = true
	}
	parents, missing := map[string]string{}, map[string]string{}
	var problems []string
	for i := range namespaces {
		ns := &namespaces[i]
		parent := source.parent(ns)
		switch {
		case source.Selector != nil && !source.Selector.Matches(labels.Set(ns.Labels)):
		case parent == "" || parent == ns.Name || ns.DeletionTimestamp != nil || slices.Contains(hnc.ExcludedNamespaces, ns.Name):
		case len(validation.IsDNS1123Label(parent)) > 0:
			problems = append(problems, fmt.Sprintf("namespace %s: its parent would be %q, which cannot be the name of a namespace; choose another key or --prefix", ns.Name, parent))
		case !known[parent]:
			missing[parent] = ns.Name
		default:
			parents[ns.Name] = parent
		}
	}
	for _, parent := range slices.Sorted(maps.Keys(missing)) {
		problems = append(problems, fmt.Sprintf("namespace %s, the parent of %s, does not exist; create it: kubectl create namespace %s", parent, missing[parent], parent))
	}
	if c := cycle(parents); c != nil {
		problems = append(problems, fmt.Sprintf("namespace %s would be its own ancestor: %s; give one of them another parent", c[0],
			strings.Join(append(slices.Clone(c), c[0]), " <- ")))
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return nil, fmt.Errorf("nothing was changed:\n  %s", strings.Join(problems, "\n  "))
	}
	return ordered(parents), nil
}

// parent returns what the source says about a namespace, "" for nothing.
func (s Source) parent(ns *metav1.PartialObjectMetadata) string {
	value := ""
	switch {
	case s.TreeLabels:
		for _, key := range slices.Sorted(maps.Keys(ns.Labels)) {
			if ancestor, ok := hnc.TreeLabelAncestor(key); ok && ns.Labels[key] == "1" {
				return ancestor
			}
		}
	case s.Label != "":
		value = ns.Labels[s.Label]
	default:
		value = ns.Annotations[s.Annotation]
	}
	if value == "" {
		return ""
	}
	return s.Prefix + value
}

// cycle returns the namespaces of a cycle that the parents alone contain, beginning with the smallest name; nil if
// there is none.
func cycle(parents map[string]string) []string {
	for _, start := range slices.Sorted(maps.Keys(parents)) {
		var path []string
		for at := start; at != "" && !slices.Contains(path, at); at = parents[at] {
			path = append(path, at)
			if parents[at] == start {
				return path
			}
		}
	}
	return nil
}

// ordered returns the moves with parents before their children, so that they can be made one after the other. The
// parents contain no cycle.
func ordered(parents map[string]string) []Move {
	var moves []Move
	for _, name := range slices.Sorted(maps.Keys(parents)) {
		moves = append(moves, Move{name, parents[name]})
	}
	depth := func(name string) (d int) {
		for at := parents[name]; at != ""; at = parents[at] {
			d++
		}
		return d
	}
	slices.SortStableFunc(moves, func(a, b Move) int { return depth(a.Namespace) - depth(b.Namespace) })
	return moves
}
