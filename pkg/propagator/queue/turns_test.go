package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// treeOf has namespaces "a-1", "a-2" in tree "a".
func treeOf(namespace string) string {
	tree, _, _ := strings.Cut(namespace, "-")
	return tree
}

// handedOut takes n keys, and returns "class namespace" of each.
func handedOut(q Queue, n int) []string {
	var got []string
	for range n {
		key, _ := q.Get()
		got = append(got, key.Class.String()+" "+key.Namespace)
		q.Done(key)
	}
	return got
}

func TestTreesTakeTurns(t *testing.T) {
	for _, class := range []Class{Subnamespace, Namespace, Source, Status, Destination, Copy} {
		q := New(treeOf, nil)
		for i := range 1000 {
			q.Add(Key{Class: class, Namespace: fmt.Sprintf("big-%d", i)})
		}
		handedOut(q, 10)
		q.Add(Key{Class: class, Namespace: "small-1"})
		q.Add(Key{Class: class, Namespace: "small-2"})
		q.Add(Key{Class: class, Namespace: "other-1"})
		var want []string
		for _, namespace := range []string{"big-10", "small-1", "other-1", "big-11", "small-2", "big-12", "big-13"} {
			want = append(want, class.String()+" "+namespace)
		}
		if got := handedOut(q, len(want)); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		q.ShutDown()
	}
}

// A namespace with many copies to write delays no other one, in whatever order their keys have come.
func TestNamespacesOfATreeTakeTurns(t *testing.T) {
	for class := range classes {
		q := New(treeOf, nil)
		for i := range 1000 {
			q.Add(Key{Class: class, Namespace: "a-1", Name: fmt.Sprint(i)})
		}
		handedOut(q, 10)
		for _, namespace := range []string{"a-2", "a-3", "a-2"} {
			q.Add(Key{Class: class, Namespace: namespace, Name: fmt.Sprint(q.Len())})
		}
		var want []string
		for _, namespace := range []string{"a-1", "a-2", "a-3", "a-1", "a-2", "a-1", "a-1"} {
			want = append(want, class.String()+" "+namespace)
		}
		if got := handedOut(q, len(want)); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		q.ShutDown()
	}
}

func TestACopyOfOneTreeDoesNotWaitForAllDestinationsOfAnother(t *testing.T) {
	q := New(treeOf, nil)
	defer q.ShutDown()
	for i := range 100 {
		q.Add(Key{Class: Copy, Namespace: fmt.Sprintf("big-%d", i)})
		q.Add(Key{Class: Destination, Namespace: fmt.Sprintf("big-%d", i)})
	}
	q.Add(Key{Class: Copy, Namespace: "small-1"})
	want := []string{"destination big-0", "copy small-1", "copy big-0", "destination big-1"}
	if got := handedOut(q, 4); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestWorkIsQueuedOnceWhateverItsTree(t *testing.T) {
	tree := "old"
	q := New(func(string) string { return tree }, nil)
	defer q.ShutDown()
	q.Add(Key{Class: Copy, Namespace: "a"})
	tree = "new" // moves while it waits
	q.Add(Key{Class: Copy, Namespace: "a"})
	q.Add(Key{Class: Copy, Namespace: "b"})
	if q.Len() != 2 {
		t.Errorf("%d keys, want 2", q.Len())
	}
	if got := handedOut(q, 2); !slices.Equal(got, []string{"copy a", "copy b"}) {
		t.Errorf("handed out %v", got)
	}
}

func TestWhatIsHandedOutIsForgotten(t *testing.T) {
	q := newByTree(treeOf, func(string, int) {})
	for round := range 3 {
		for i := range 10_000 {
			q.Push(Key{Class: Copy, Namespace: fmt.Sprintf("a-%d", i)})
			q.Push(Key{Class: Destination, Namespace: fmt.Sprintf("t%d-%d", i, round)})
		}
		for range 20_000 {
			q.Pop()
		}
	}
	if q.Len() != 0 {
		t.Fatalf("%d keys are left", q.Len())
	}
	if n := len(q.trees) + cap(q.waiting.items); n > 0 {
		t.Errorf("an empty queue holds %d trees", n)
	}
	for round := range 1000 {
		for range 3 {
			q.Push(Key{Class: Copy, Namespace: fmt.Sprintf("a-%d", round)})
		}
		q.Pop()
	}
	for q.Len() > 2 {
		q.Pop()
	}
	if n := len(q.trees["a"].lanes); n > 2 {
		t.Errorf("two keys have %d lanes", n)
	}
}
