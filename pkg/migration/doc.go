// Package migration moves the hierarchies of a cluster from HNC's CustomResourceDefinitions to this project's API
// server: a list of steps, each of which can be repeated, and the way back. Source of HNC's names and behavior:
// docs/spec/hnc.md.
//
// The order of the steps follows from three facts. HNC's webhooks reject writes when HNC is gone, so they go first.
// Objects with finalizers become unreachable when the APIService leads to another server, and would keep their
// definition from being deleted, so finalizers go before. And hns-propagator does not start while HNC's definitions
// exist, so that until they are deleted no namespace and no copy has been written, and everything can be undone.
package migration
