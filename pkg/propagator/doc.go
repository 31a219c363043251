// Package propagator is the one privileged writer: it makes the cluster look as its hierarchies say.
//
// Watches feed a tree and one index of sources and copies per kind. Each change says what it affects, and that becomes
// work in a queue. Work decides from the present picture, never from the event that caused it, and writes only what differs; so it can
// be repeated, and a restart writes nothing that is right. What was written is entered in the picture at once: nothing
// waits for its own writes to come back. A later version that a watch brings wins.
package propagator
