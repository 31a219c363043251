// Package managedkeys determines which labels and annotations of namespaces hierarchies set, and which namespaces are
// included in hierarchies. The API server and the propagator must apply the same rules: the API server rejects what the
// propagator would not do.
package managedkeys
