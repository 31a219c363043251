// Package namespacestate computes what the propagator wants a namespace to have because of its position in the tree:
// labels and annotations, of which that of the highest ancestor wins, and the conditions of its Hierarchy. Every
// function is pure and reads a tree only. Both servers use it: the propagator to reconcile, the API server to plan and
// to validate changes.
package namespacestate
