// Package adoption decides which parents namespaces get by what labels and annotations say about them: HNC's tree
// labels, or those of other tools. It is pure.
package adoption

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
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
	f := forest.New(nil)
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
			f.SetParent(ns.Name, parent)
		}
	}
	for _, name := range f.Names() {
		c := f.Cycle(name)
		if c == nil {
			continue
		}
		chain := slices.Concat(c, c[:1])
		if len(c) > MaxNamed {
			chain = slices.Concat(c[:MaxNamed], []string{"...", c[0]})
		}
		for _, name := range c {
			skipped = append(skipped, Skipped{name, fmt.Sprintf("it would be its own ancestor: %s; give one of them another parent", strings.Join(chain, " <- "))})
			f.SetParent(name, "")
		}
	}
	slices.SortFunc(skipped, func(a, b Skipped) int { return strings.Compare(a.Namespace, b.Namespace) })
	return ordered(f), skipped
}

// parent returns what the source says about a namespace, "" for nothing.
func (s Source) parent(ns *metav1.PartialObjectMetadata) string {
	if s.TreeLabels {
		return hnc.LabeledParent(ns.Name, ns.Labels, hnc.AbstractAncestors(ns.Annotations))
	}
	value := ns.Annotations[s.Annotation]
	if s.Label != "" {
		value = ns.Labels[s.Label]
	}
	if value == "" {
		return ""
	}
	return s.Prefix + value
}

// MaxNamed bounds the namespaces that a message names.
const MaxNamed = 20

// ordered returns the moves with parents before their children, so that they can be made one after the other. The
// forest contains no cycle.
func ordered(f *forest.Forest) []Move {
	var moves []Move
	depths := map[string]int{}
	for _, name := range f.Names() {
		if parent := f.Parent(name); parent != "" {
			moves, depths[name] = append(moves, Move{name, parent}), len(f.Chain(name))
		}
	}
	slices.SortStableFunc(moves, func(a, b Move) int { return depths[a.Namespace] - depths[b.Namespace] })
	return moves
}
