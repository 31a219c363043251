// Package copies decides how the objects of one kind are propagated: it keeps an index of sources and copies, decides
// from it and from a namespace's ancestors what has to be written, and applies that through its caller's client. It has
// no clients of its own, so that plans are made with the very decisions of the propagator.
//
// An object with the label hnc.x-k8s.io/inherited-from is a copy; any other object is a source. Of a source, the index
// holds the content of its copies, encoded once; of a copy only a digest, however large it is.
package copies
