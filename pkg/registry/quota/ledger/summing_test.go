package ledger

import (
	"sync"
	"sync/atomic"
	"testing"
)

// A tenant moves a namespace all the time, so that no sum of their tree is ever right.
func TestSumsThatAreLostHoldNoOtherTree(t *testing.T) {
	s, c := newStore(map[string]string{"eve-dev": "eve", "ann-dev": "ann"}), newCluster(t, "eve", "eve-dev", "ann", "ann-dev")
	s.limit("eve", "5")
	s.limit("ann", "5")
	var moving atomic.Bool
	began := make(chan struct{})
	begin := sync.OnceFunc(func() { close(began) })
	moving.Store(true)
	s.listed = func() {
		if moving.Load() {
			s.move("eve-dev", "eve")
		}
		begin()
	}
	l := s.replica(t, c)
	eve := make(chan error, 1)
	go func() { eve <- l.Reserve(t.Context(), status("eve-dev", 1, "0"), status("eve-dev", 1, "2")) }()
	<-began
	for i := range 3 {
		if err := l.Reserve(t.Context(), status("ann-dev", i+1, "0"), status("ann-dev", i+1, "2")); err != nil {
			t.Fatalf("another tree: %v", err)
		}
	}
	select {
	case err := <-eve:
		t.Errorf("the moving tree has been served first: %v", err)
	default:
	}
	moving.Store(false)
	if err := <-eve; err != nil {
		t.Errorf("when nothing moves any more: %v", err)
	}
	if got := used(t, l, "eve"); got != "2" {
		t.Errorf("eve: got %s pods, want 2", got)
	}
}

func TestTreesTakeTurnsWithSums(t *testing.T) {
	s := &summing{}
	for _, root := range []string{"eve", "eve", "eve", "ann", "ann", "bob"} {
		s.waiting = append(s.waiting, &operation{root: root})
	}
	s.waiting[2].left.Store(true)
	got := ""
	for o := s.next(); o != nil; o = s.next() {
		got += o.root + " "
	}
	if want := "eve ann bob eve ann "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A marked operation is not summed up with others, whose transaction would be lost with it.
func TestAnOperationThatSumsIsAlone(t *testing.T) {
	s, c := newStore(map[string]string{"eve-dev": "eve", "ann-dev": "ann"}), newCluster(t, "eve", "eve-dev", "ann", "ann-dev")
	s.limit("eve", "5")
	l := s.ledger(c)
	reserving := func(namespace string) *operation {
		o, err := newOperation(status(namespace, 1, "0"))
		if err != nil {
			t.Fatal(err)
		}
		o.reserve, o.done = pods("2"), make(chan error, 1)
		return o
	}
	ann, eve := reserving("ann-dev"), reserving("eve-dev")
	for try := range 2 {
		if _, results, err := l.evaluate(t.Context(), []*operation{ann, eve}, true); err != nil || len(results) != 1 || !eve.sums || ann.sums {
			t.Errorf("try %d: %d results, %v", try, len(results), err)
		}
	}
	if s.lists != 0 {
		t.Errorf("%d lists of all use", s.lists)
	}
	if _, results, err := l.evaluate(t.Context(), []*operation{eve}, true); err != nil || len(results) != 1 || s.lists != 1 {
		t.Errorf("alone: %d results, %v, after %d lists", len(results), err, s.lists)
	}
}
