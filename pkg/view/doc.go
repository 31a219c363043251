// Package view serves a subtree as a cluster of its own: one HTTP handler in front of kube-apiserver that shows the
// namespaces of a subtree, and nothing else, to ordinary clients.
//
//   - Every request goes to kube-apiserver as the caller: what it refuses to the caller directly, it refuses here.
//   - A namespace that is not in the view does not exist: 404, whether it exists in the cluster or not.
//   - Lists and watches across namespaces are those of resources.hnc.x-k8s.io (package registry/subtree).
//   - Namespaces are created and deleted as Subnamespaces below the view's namespace.
//   - Cluster-scoped kinds are absent, except for those in rules.go, and discovery says so.
//
// The handler stores nothing. Its hosts authenticate the caller, and connect to kube-apiserver with the caller's
// identity.
package view
