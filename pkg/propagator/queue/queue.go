// Package queue orders the propagator's work: what somebody waits for goes first, and bulk work last.
package queue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Class is a class of work. Lower classes go first.
type Class int

const (
	// Subnamespace is the work for one Subnamespace: a request waits for it.
	Subnamespace Class = iota
	// Namespace is the labels of one namespace.
	Namespace
	// Source is finding the copies that one changed source affects. It writes nothing itself.
	Source
	// Status is the status of one namespace's Hierarchy.
	Status
	// Configuration is the status of the cluster's configuration.
	Configuration
	// Strays is finding the copies of one kind that are not below their source, and are not as they should be. It writes nothing itself.
	Strays
	// Destination is all copies in one namespace.
	Destination
	// Copy is one copy.
	Copy
	classes
)

// String returns the class as metrics name it.
func (c Class) String() string {
	return [...]string{"subnamespace", "namespace", "source", "status", "configuration", "strays", "destination", "copy"}[c]
}

// Key names a piece of work. Kind is the place of the propagated kind, for Source, Strays and Copy; Name is the name
// of the object in the namespace, for those and for Subnamespace.
type Key struct {
	Class     Class
	Kind      int
	Namespace string
	Name      string
}

// Backoff of work that fails.
const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = 10 * time.Second
)

// Queue is a work queue that hands out lower classes first, and the work of one class in the order of its arrival.
type Queue = workqueue.TypedRateLimitingInterface[Key]

// New returns an empty queue. length, unless it is nil, is called with each change of a class's length.
func New(length func(class string, length int)) Queue {
	if length == nil {
		length = func(string, int) {}
	}
	waiting := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Queue: &byClass{length: length}})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Key]{Queue: waiting})
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[Key](minBackoff, maxBackoff)
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[Key]{DelayingQueue: delaying})
}

// byClass is the storage under a work queue, which guards it.
type byClass struct {
	fifos  [classes]fifo
	length func(class string, length int)
}

func (q *byClass) Touch(Key) {}

func (q *byClass) Push(key Key) {
	f := &q.fifos[key.Class]
	f.push(key)
	q.length(key.Class.String(), f.len())
}

func (q *byClass) Len() int {
	n := 0
	for i := range q.fifos {
		n += q.fifos[i].len()
	}
	return n
}

func (q *byClass) Pop() Key {
	for i := range q.fifos {
		if f := &q.fifos[i]; f.len() > 0 {
			key := f.pop()
			q.length(key.Class.String(), f.len())
			return key
		}
	}
	panic("pop of an empty queue") // The work queue asks for Len first.
}

// fifo frees the keys that it has handed out once they are half of what it holds.
type fifo struct {
	keys []Key
	head int
}

func (f *fifo) len() int { return len(f.keys) - f.head }

func (f *fifo) push(key Key) { f.keys = append(f.keys, key) }

func (f *fifo) pop() Key {
	key := f.keys[f.head]
	f.head++
	if f.head*2 > len(f.keys) {
		f.keys = append([]Key(nil), f.keys[f.head:]...)
		f.head = 0
	}
	return key
}
