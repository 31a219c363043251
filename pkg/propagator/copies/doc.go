// Package copies propagates the objects of one kind: it keeps an index of sources and copies, decides from it and from a
// namespace's ancestors what has to be written, and writes it.
//
// An object with the label hnc.x-k8s.io/inherited-from is a copy; any other one is a source. Of a source the index holds
// what its copies contain, encoded once; of a copy, whatever its size, only a digest of what it contains.
package copies
