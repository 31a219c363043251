// Package managed says which labels and annotations of namespaces hierarchies set, and which namespaces take part in
// hierarchies. The API server and the propagator have the same flags for it, and have to be given the same values: the one
// refuses what the other would not do.
package managed
