// Package tree holds the namespaces of a cluster, what their Hierarchies and Subnamespaces specify, and the forest that
// follows from them. It has no clients: its owner enters what it watches, and learns from each change what it affects.
//
// Records are immutable: a new version replaces an old one. A Tree is not safe for concurrent use; its owner guards it.
package tree
