// Package copies decides how the objects of one kind are propagated: it keeps an index of sources and copies, decides from it and from a
// namespace's ancestors what has to be written, and applies it through a client that its caller gives. It has no clients of its own,
// so that whoever has to judge what propagation will do judges as the propagator does.
//
// An object with the label hnc.x-k8s.io/inherited-from is a copy; any other one is a source. Of a source the index holds
// what its copies contain, encoded once; of a copy, whatever its size, only a digest of what it contains.
package copies
