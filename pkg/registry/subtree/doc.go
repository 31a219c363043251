// Package subtree serves resources.hnc.x-k8s.io/v1alpha2: any namespaced kind, listed and watched over a namespace and all
// that are below it (spec/hnc.md 1.8). It stores nothing.
//
// Objects are read from kube-apiserver with the server's own rights, and shown by the caller's: a namespace counts only if the
// caller may do there what was asked for, with the very kind. This package never asks for more than that to be believed:
//
//   - a list reads the namespaces that passed one by one, never the cluster;
//   - a watch reads the whole cluster's changes of the kind, and lets through what is in a namespace that has passed;
//   - what is in the whole cluster is for those only who may read the whole cluster.
//
// All parts of an answer are of one revision. A list first learns the present revision, then reads every namespace at
// exactly that. A watch has a position: the revision up to which all is told. When a namespace comes or goes, its objects at
// exactly the position are told as added or deleted; so nothing is told twice or missed, and nothing needs to be remembered.
package subtree
