// Package propagator is the only privileged writer: it makes the cluster match its hierarchies.
//
// Watches populate a cache. Each change of the cache says what it affects, and controllers enqueue that. They reconcile
// from the present cache, never from the event, and write only what differs, so reconciling can be repeated, and a
// restart writes nothing that is already right. Results of writes enter the cache at once, so that nothing waits for
// its own writes to come back. A later version from a watch wins.
package propagator
