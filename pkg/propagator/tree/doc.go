// Package tree is the propagator's picture of the cluster: which namespaces exist, what their hierarchies and
// sub-namespaces say, and the forest that follows from them. It has no clients; whoever watches the API feeds it, and
// learns from each change what it affects.
//
// Records are immutable: a new version replaces an old one. A Tree is not safe for concurrent use; its owner guards it.
package tree
