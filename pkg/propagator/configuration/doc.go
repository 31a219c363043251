// Package configuration decides what the cluster's HNCConfiguration means: which kinds are propagated and how, what is wrong with it, and
// what its status shall tell. It has no clients. Source: spec/hnc.md 3.12.
package configuration
