// Package controlplane runs a real Kubernetes control plane on the loopback interface and installs this project on it.
//
// Start runs etcd, kube-apiserver and kube-controller-manager as subprocesses. Install applies a kustomization from
// artifacts/, gives our servers their identities and certificates, and points the APIServices at them. Our servers then
// run either as subprocesses (StartServer; used by `make up` and by tests that kill them) or inside a suite's own
// process, for which Installation holds all that they need.
//
// Everything that a control plane is lies in Config.Dir: data, certificates, ports, kubeconfigs, <name>.log and
// <name>.pid. A new Start on the same Dir brings back the same cluster at the same addresses, and takes over what still
// runs.
package controlplane
