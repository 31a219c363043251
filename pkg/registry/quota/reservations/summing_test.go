package reservations

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
	if want := "eve ann "; got != want {
		t.Errorf("got %s, want one of each tree: %s", got, want)
	}
	if s.end(tried{operation: running[0], root: "eve"}); len(s.waiting) != 4 {
		t.Errorf("%d operations wait, want the lost one and three others", len(s.waiting))
	}
	if waited := s.end(tried{operation: running[1], root: "ann", answered: true}); len(waited) != 1 || waited[0].root != "ann" {
		t.Errorf("got %d operations of the tree whose sums are recorded, want 1", len(waited))
	}
	if again, got := turns(); got != "bob eve " || running[0] != s.waiting[0] {
		t.Errorf("got %s, want bob and the other one of eve", got)
	} else if s.end(tried{operation: again[0], root: "bob", answered: true}); len(s.running) != maxSums-1 {
		t.Errorf("%v have a turn, want eve", s.running)
	}
	for i := range maxSums {
		s.waiting = append(s.waiting, &operation{root: string(rune('a' + i))})
	}
	if running, _ := turns(); len(running) != maxSums-1 {
		t.Errorf("got %d more, want %d beside eve", len(running), maxSums-1)
	}
}

// kube-apiserver's quota admission has five workers for all namespaces, which wait for reservations.
func TestReservationsThatWaitForSumsLeaveWorkersToOthers(t *testing.T) {
	const workers = 5
	trees := []string{"eve", "ann", "bob", "dan", "joe"}
	synctest.Test(t, func(t *testing.T) {
		parents := map[string]string{}
		for _, root := range trees {
			for i := range workers {
				parents[fmt.Sprint(root, i)] = root
			}
		}
		s, c := newStore(parents), newCluster(t, slices.Concat(trees, slices.Collect(maps.Keys(parents)))...)
		for _, root := range trees {
			s.limit(root, "50")
		}
		var listing, losses atomic.Int64
		listing.Store(int64(100 * time.Millisecond))
		s.listed = func() {
			time.Sleep(time.Duration(listing.Load()))
			if losses.Add(-1) >= 0 {
				for _, root := range trees {
					s.move(root+"0", root)
				}
			}
		}
		l := s.replica(t, c)
		// reserve starts a reservation in each namespace, and returns how many wait.
		reserve := func(namespaces ...string) (waiting int, results chan error) {
			results = make(chan error, len(namespaces))
			for _, name := range namespaces {
				go func() { results <- l.Reserve(t.Context(), status(name, 1, "0"), status(name, 1, "2")) }()
			}
			synctest.Wait()
			return len(namespaces) - len(results), results
		}
		below := func(root string) (names []string) {
			for i := range workers {
				names = append(names, fmt.Sprint(root, i))
			}
			return names
		}
		// ended waits for the results of reservations.
		ended := func(results chan error) {
			for range cap(results) {
				if err := <-results; err != nil && !errors.Is(err, errBusy) {
					t.Error(err)
				}
			}
		}
		burst := func(root string) {
			t.Helper()
			_, results := reserve(below(root)...)
			for range workers {
				if err := <-results; err != nil {
					t.Errorf("a reservation in %s during a few changes of the tree: %v", root, err)
				}
			}
		}
		losses.Store(3)
		burst("eve")

		losses.Store(1 << 30)
		s.move("eve0", "eve")
		for _, root := range trees {
			_, results := reserve(below(root)...)
			ended(results)
			_, results = reserve(below(root)...)
			time.Sleep(2 * time.Second)
			if waiting := workers - len(results); waiting > 1 {
				t.Errorf("%d reservations in %s wait for sums that are lost all the time, want 1", waiting, root)
			}
			ended(results)
		}
		var one []string
		for _, root := range trees {
			one = append(one, root+"1")
		}
		for range 2 { // use up the time of all trees
			_, results := reserve(one...)
			ended(results)
		}
		_, results := reserve(one...)
		time.Sleep(3 * time.Second)
		if waiting := len(one) - len(results); waiting > maxSums+1 {
			t.Errorf("%d reservations wait in all trees, want %d that are tried and the next one", waiting, maxSums)
		}
		losses.Store(0)
		time.Sleep(longestWaitDebt)
		listing.Store(int64(timeout - time.Second))
		s.move("ann0", "ann")
		_, results = reserve(below("ann")...)
		time.Sleep(4 * time.Second)
		if waiting := workers - len(results); waiting > 1 {
			t.Errorf("%d reservations wait for a sum that takes long, want 1", waiting)
		}
		listing.Store(0)
		time.Sleep(longestWaitDebt)
		s.move("eve0", "eve")
		burst("eve")
	})
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
