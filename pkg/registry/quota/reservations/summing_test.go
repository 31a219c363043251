package reservations

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
	observed := withUse(t, status("eve", 2, "1"))
	observed.yields = true
	if err := l.do(t.Context(), observed); !errors.Is(err, errBusy) {
		t.Errorf("what the observer records in the tree: %v", err)
	}
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
	s := newSumming()
	for _, root := range []string{"eve", "eve", "eve", "ann", "ann", "bob"} {
		s.waiting = append(s.waiting, &operation{root: root})
	}
	s.waiting[2].left.Store(true)
	turns := func() (operations []*operation, roots string) {
		for o := s.next(); o != nil; o = s.next() {
			operations, roots = append(operations, o), roots+o.root+" "
		}
		return operations, roots
	}
	running, got := turns()
	if want := "eve ann bob "; got != want {
		t.Errorf("got %s, want one of each tree: %s", got, want)
	}
	if s.end(tried{running[0], "eve", false}); len(s.waiting) != 3 {
		t.Errorf("%d operations wait, want the lost one and two others", len(s.waiting))
	}
	if waited := s.end(tried{running[1], "ann", true}); len(waited) != 1 || waited[0].root != "ann" {
		t.Errorf("got %d operations of the tree whose sums are recorded, want 1", len(waited))
	}
	if running, got = turns(); got != "eve " || running[0] == s.waiting[0] {
		t.Errorf("got %s, want the other one of eve", got)
	}
	for i := range maxSums {
		s.waiting = append(s.waiting, &operation{root: string(rune('a' + i))})
	}
	if running, _ := turns(); len(running) != maxSums-2 {
		t.Errorf("got %d more, want %d beside eve and bob", len(running), maxSums-2)
	}
}

// A tenant has very many records, so that their sum takes long.
func TestALongSumHoldsOnlyItsTree(t *testing.T) {
	s, c := newStore(map[string]string{"eve-dev": "eve", "ann-dev": "ann"}), newCluster(t, "eve", "eve-dev", "ann", "ann-dev")
	s.limit("eve", "5")
	s.limit("ann", "5")
	began, end := make(chan struct{}), make(chan struct{})
	s.listed = sync.OnceFunc(func() {
		close(began)
		<-end
	})
	l := s.replica(t, c)
	results := make(chan error, 2)
	go func() { results <- l.Reserve(t.Context(), status("eve-dev", 1, "0"), status("eve-dev", 1, "2")) }()
	<-began
	s.listed = nil
	// It would change the sum, so it waits for it.
	go func() { results <- l.do(t.Context(), withUse(t, status("eve", 2, "1"))) }()
	for i := range 3 {
		if err := l.Reserve(t.Context(), status("ann-dev", i+1, "0"), status("ann-dev", i+1, "2")); err != nil {
			t.Fatalf("another tree: %v", err)
		}
	}
	select {
	case err := <-results:
		t.Fatalf("the long sum has ended, or others in its tree have not waited: %v", err)
	default:
	}
	close(end)
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if s.lists != 2 {
		t.Errorf("%d lists, want one for each tree", s.lists)
	}
	if got := used(t, l, "eve"); got != "3" {
		t.Errorf("eve: got %s pods, want 3", got)
	}
}

// Records of others cost a sum nothing.
func TestSumsReadOnlyTheirSubtree(t *testing.T) {
	s, c := newStore(map[string]string{"top": "root", "dev": "top", "beside": "root", "left": "top"}), newCluster(t, "root", "top", "dev", "beside", "left", "other")
	s.limit("top", "5")
	s.limit("other", "5")
	l := s.replica(t, c)
	for _, name := range []string{"top", "left", "other"} {
		observe(t, l, status(name, 1, "1"))
	}
	terminate(t, s, c, "left")
	if err := l.Reserve(t.Context(), status("dev", 1, "0"), status("dev", 1, "3")); err != nil {
		t.Fatal(err)
	}
	slices.Sort(s.folders)
	if want := []string{folderOf("dev"), folderOf("left"), folderOf("top")}; !slices.Equal(s.folders, want) {
		t.Errorf("got %v, want %v", s.folders, want)
	}
	if got := used(t, l, "top"); got != "5" {
		t.Errorf("got %s pods, want 5 with those of the namespace that is being deleted", got)
	}
}

// withUse returns the operation that records a stored status.
func withUse(t *testing.T, rq *corev1.ResourceQuota) *operation {
	t.Helper()
	o, err := newOperation(rq)
	if err != nil {
		t.Fatal(err)
	}
	return o
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
