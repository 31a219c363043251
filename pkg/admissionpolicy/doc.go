// Package admissionpolicy holds the admission policies that protect hierarchies inside kube-apiserver.
//
// The policies are CEL that kube-apiserver evaluates itself, so they apply while this project's servers are down.
// They have no parameters, because a policy with parameters denies all requests after a restart of kube-apiserver
// until it has read them. The propagator writes what the policies need to know of a namespace as labels. Without the
// policies some protections are missing, but nothing else fails.
//
// The manifests are applied with kubectl apply -k. The tests of this package check that their names match
// pkg/apis/hnc.
package admissionpolicy

import _ "embed"

// Propagator is the name of the policy that bounds hns-propagator itself. It is installed with the permissions that it
// bounds, and rejects nothing of others.
const Propagator = "view-definitions.hnc.x-k8s.io"

// Copies is the manifest of the policy that protects copies, and of its binding.
//
//go:embed copies.yaml
var Copies []byte
