// Package subtree serves resources.hnc.x-k8s.io/v1alpha2: it lists and watches any namespaced kind across a subtree
// (docs/spec/hnc.md 1.8). It stores nothing.
//
// Objects are read from kube-apiserver with the server's own permissions and filtered by the caller's: the caller
// must be allowed the requested verb on the requested kind in each namespace that the answer includes.
//
//   - A list reads the permitted namespaces one by one, never the whole cluster.
//   - A watch reads the changes of the kind in the whole cluster and forwards those in permitted namespaces.
//   - A request for the whole cluster requires permission for the whole cluster.
//
// Every answer is consistent at one revision. A list learns the current revision first, then reads each namespace at
// exactly that revision. A watch has a position: the revision up to which all events have been sent. When a namespace
// joins or leaves, its objects at exactly that position are sent as added or deleted, so no event is sent twice or
// lost, and no object is remembered.
//
// The watch cache of k8s.io/apiserver and client-go's reflectors are not used because both keep every object of the
// kind in memory. This package keeps the last encoded events only (64 MiB at most), and decodes nothing but the
// namespace and the revision of an object.
package subtree
