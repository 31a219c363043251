// Package cache holds the cluster as the propagator sees it: namespaces, hierarchies, Subnamespaces, the configuration,
// and the sources and copies of the watched kinds. Reflectors populate it, and event handlers are notified of what a
// change affects. It writes nothing to the cluster and knows no work queue.
//
// The reflectors write to the cache directly. Informers would keep a second store of the same objects, which would take
// most of the memory in a large cluster.
package cache
