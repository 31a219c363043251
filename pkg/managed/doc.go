// Package managed determines which labels and annotations of namespaces hierarchies set, and which namespaces are
// included in hierarchies. The API server and the propagator have the same flags for it and need the same values: the
// API server rejects what the propagator would not do.
package managed
