// Package queue orders the propagator's work: trees take turns, within a tree the classes of work, and within a
// class the namespaces. client-go's work queues do the queueing, delays and back-off; this package adds the order. In
// their order, that of arrival, a change in a small tree would wait for all copies of a large one.
package queue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Class is a class of work.
type Class int

const (
	// Subnamespace is the work for one Subnamespace: a request waits for it.
	Subnamespace Class = iota
	// Namespace is the labels of one namespace.
	Namespace
	// Quota is the ResourceQuotas of one namespace that enforce hierarchical quotas.
	Quota
	// QuotaAdmission is the registration of the webhook that reserves use of hierarchical quotas.
	QuotaAdmission
	// Source finds the copies that one changed source affects. It writes nothing itself.
	Source
	// Status is the status of one namespace's Hierarchy.
	Status
	// QuotaStatus is the status of one HierarchicalResourceQuota.
	QuotaStatus
	// Release is one CopyRelease.
	Release
	// View is the grant and the status of one TenantView, or, without a namespace, of all.
	View
	// Definitions are the CustomResourceDefinitions of the view of one namespace, or, without a namespace, of all.
	Definitions
	// Configuration is the status of the cluster's configuration.
	Configuration
	// OrphanedCopies finds the divergent copies of one kind that are not below their source. It writes nothing itself.
	OrphanedCopies
	// Destination is all copies in one namespace.
	Destination
	// Revocation is one copy of a Role or RoleBinding that has to go, or of a RoleBinding that is updated.
	Revocation
	// Copy is one copy.
	Copy
	classes
)

// names are the classes as metrics name them.
var names = map[Class]string{
	Subnamespace: "subnamespace", Namespace: "namespace", Quota: "quota", QuotaAdmission: "quota-admission", Source: "source", Status: "status",
	QuotaStatus: "quota-status", Release: "release", View: "view", Definitions: "definitions", Configuration: "configuration", OrphanedCopies: "strays", Destination: "destination", Revocation: "revocation", Copy: "copy",
}

// String returns the class as metrics name it.
func (c Class) String() string { return names[c] }

// Key identifies work. Kind is the number of the propagated kind, for Source, OrphanedCopies, Revocation and Copy; Name is
// the name of the object in the namespace, for these, for Subnamespace, for QuotaStatus and for Release.
type Key struct {
	Class     Class
	Kind      int
	Namespace string
	Name      string
}

// Back-off of failed work.
const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = 10 * time.Second
)

// Queue is a work queue that hands out one key of each tree in turn, of a tree one of each class in turn, and of a class
// one of each namespace in turn: a change in one tree never waits for more than one key of each other tree, and a revoked
// grant neither for all labels of its tree nor for the copies of its neighbors. An order of classes would let the tenants
// of one tree, or of one class, stop all others. Keys of one class and namespace are handed out in the order of their
// arrival.
type Queue = workqueue.TypedRateLimitingInterface[Key]

// New returns an empty queue. treeOf returns the tree that a namespace is in; nil makes each namespace a tree of its
// own. It is called with the queue locked, so it must not wait for a caller that adds work. length, unless it is nil,
// is called with each change of a class's length.
func New(treeOf func(namespace string) string, length func(class string, length int)) Queue {
	if treeOf == nil {
		treeOf = func(namespace string) string { return namespace }
	}
	if length == nil {
		length = func(string, int) {}
	}
	waiting := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Queue: newByTree(treeOf, length)})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Key]{Queue: waiting})
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[Key](minBackoff, maxBackoff)
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[Key]{DelayingQueue: delaying})
}

// byTree is the storage under a work queue, which guards it.
type byTree struct {
	turns
	lengths [classes]int
	treeOf  func(namespace string) string
	length  func(class string, length int)
}

func newByTree(treeOf func(string) string, length func(string, int)) *byTree {
	return &byTree{turns: turns{trees: map[string]*share{}}, treeOf: treeOf, length: length}
}

func (q *byTree) Touch(Key) {}

func (q *byTree) Push(key Key) {
	q.push(q.treeOf(key.Namespace), key)
	q.count(key.Class, 1)
}

func (q *byTree) count(class Class, n int) {
	q.lengths[class] += n
	q.length(class.String(), q.lengths[class])
}

func (q *byTree) Len() int {
	n := 0
	for _, length := range q.lengths {
		n += length
	}
	return n
}

// Pop returns the next key. The work queue asks for Len first.
func (q *byTree) Pop() Key {
	key := q.pop()
	q.count(key.Class, -1)
	return key
}
