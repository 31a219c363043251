// Package namespaces decides what the propagator writes for a namespace's place in the tree: the labels of the Namespace,
// the status of its Hierarchy, and what becomes of a Subnamespace. Every decision is a function of a tree.
package namespaces
