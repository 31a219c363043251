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

// Skipped is a namespace that does not get the parent that is found for it.
type Skipped struct{ Namespace, Reason string }

// Moves returns the parents that the source gives to namespaces, parents before their children, and the namespaces that
// it can't give theirs: those with parents that don't exist, and cycles. Users may have written what the source reads,
// so these don't keep the others from being moved. Namespaces that it says nothing about, and those that it names as
// their own parents, are left alone.
func Moves(namespaces []metav1.PartialObjectMetadata, source Source) ([]Move, []Skipped) {
	known := map[string]bool{}
	for i := range namespaces {
		known[namespaces[i].Name] = true
	}
	parents := map[string]string{}
	var skipped []Skipped
	for i := range namespaces {
		ns := &namespaces[i]
		parent := source.parent(ns)
		switch {
		case source.Selector != nil && !source.Selector.Matches(labels.Set(ns.Labels)):
		case parent == "" || parent == ns.Name || ns.DeletionTimestamp != nil || slices.Contains(hnc.ExcludedNamespaces, ns.Name):
		case len(validation.IsDNS1123Label(parent)) > 0:
			skipped = append(skipped, Skipped{ns.Name, fmt.Sprintf("its parent would be %q, which cannot be the name of a namespace; choose another key or --prefix", parent)})
		case !known[parent]:
			skipped = append(skipped, Skipped{ns.Name, fmt.Sprintf("its parent %s does not exist; create it: kubectl create namespace %s", parent, parent)})
		default:
			parents[ns.Name] = parent
		}
	}
	for _, c := range cycles(parents) {
		chain := slices.Concat(c, c[:1])
		if len(c) > MaxNamed {
			chain = slices.Concat(c[:MaxNamed], []string{"...", c[0]})
		}
		for _, name := range c {
			skipped = append(skipped, Skipped{name, fmt.Sprintf("it would be its own ancestor: %s; give one of them another parent", strings.Join(chain, " <- "))})
			delete(parents, name)
		}
	}
	slices.SortFunc(skipped, func(a, b Skipped) int { return strings.Compare(a.Namespace, b.Namespace) })
	return ordered(parents), skipped
}

// parent returns what the source says about a namespace, "" for nothing.
func (s Source) parent(ns *metav1.PartialObjectMetadata) string {
	value := ""
	switch {
	case s.TreeLabels:
		return hnc.LabeledParent(ns.Name, ns.Labels, hnc.AbstractAncestors(ns.Annotations))
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

// MaxNamed bounds the namespaces that a message names.
const MaxNamed = 20

// cycles returns the cycles that the parents contain, each beginning with its smallest name.
func cycles(parents map[string]string) (all [][]string) {
	// walks has, for each namespace that was visited, where the walk to its ancestors began.
	walks := map[string]string{}
	for _, start := range slices.Sorted(maps.Keys(parents)) {
		at := start
		for ; at != "" && walks[at] == ""; at = parents[at] {
			walks[at] = start
		}
		if at == "" || walks[at] != start {
			continue
		}
		c := []string{at}
		for next := parents[at]; next != at; next = parents[next] {
			c = append(c, next)
		}
		smallest := slices.Index(c, slices.Min(c))
		all = append(all, append(c[smallest:len(c):len(c)], c[:smallest]...))
	}
	return all
}

// ordered returns the moves with parents before their children, so that they can be made one after the other. The
// parents contain no cycle.
func ordered(parents map[string]string) []Move {
	depths := map[string]int{}
	depth := func(name string) int {
		var path []string
		for ; name != "" && depths[name] == 0; name = parents[name] {
			path = append(path, name)
		}
		known := depths[name]
		for i, below := range path {
			depths[below] = known + len(path) - i
		}
		return known + len(path)
	}
	var moves []Move
	for _, name := range slices.Sorted(maps.Keys(parents)) {
		moves = append(moves, Move{name, parents[name]})
		depth(name)
	}
	slices.SortStableFunc(moves, func(a, b Move) int { return depths[a.Namespace] - depths[b.Namespace] })
	return moves
}
