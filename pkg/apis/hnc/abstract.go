package hnc

import (
	"slices"
	"strings"
)

// JoinAbstractAncestors returns the value of AnnotationAbstractAncestors for names, the nearest first.
func JoinAbstractAncestors(names []string) string { return strings.Join(names, ".") }

// AbstractAncestors returns the names in AnnotationAbstractAncestors, the nearest first; nil if there are none.
func AbstractAncestors(annotations map[string]string) []string {
	value := annotations[AnnotationAbstractAncestors]
	if value == "" {
		return nil
	}
	return strings.Split(value, ".")
}

// LabeledParent returns the namespace that is the parent by the tree labels of a namespace with the given abstract
// ancestors, "" if they name none.
func LabeledParent(name string, labels map[string]string, abstract []string) string {
	var found string
	for key, value := range labels {
		parent, ok := TreeLabelAncestor(key)
		if ok && value == "1" && parent != name && (found == "" || parent < found) && IsLabeledChild(labels, abstract, parent) {
			found = parent
		}
	}
	return found
}

// IsLabeledChild reports whether the tree labels of a namespace with the given abstract ancestors make it a child of
// the namespace parent.
func IsLabeledChild(labels map[string]string, abstract []string, parent string) bool {
	return labels[TreeLabel(parent)] == "1" && !slices.Contains(abstract, parent)
}

// IsBelow reports whether the tree labels of a namespace with the given abstract ancestors make it the namespace
// ancestor or one of its descendants.
func IsBelow(labels map[string]string, abstract []string, ancestor string) bool {
	_, ok := labels[TreeLabel(ancestor)]
	return ok && !slices.Contains(abstract, ancestor)
}

// HasAbstractParent reports whether a namespace with the given abstract ancestors is the topmost one below them: by its
// tree labels, the nearest of them is at distance 1. Such a namespace has no parent.
func HasAbstractParent(labels map[string]string, abstract []string) bool {
	return len(abstract) > 0 && labels[TreeLabel(abstract[0])] == "1"
}
