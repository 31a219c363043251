// Package policy holds the admission policies that protect a hierarchy inside kube-apiserver.
//
// They are CEL, evaluated by every kube-apiserver itself, so they hold while our own servers are down, and they have no parameters,
// because a policy with parameters denies everything from a restart of kube-apiserver until the parameters have come in. What they
// need to know of the tree, the propagator writes on the namespaces as labels. A policy that is missing or slow to take effect
// loosens a protection and breaks nothing else.
//
// The manifests are written for kubectl apply -k; names in them are those of pkg/apis/hnc, which the tests of this package check.
package policy
