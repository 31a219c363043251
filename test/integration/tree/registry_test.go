package tree

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/history"
)

// Random moves by many clients through three replicas with stale trees. Whatever each of them believes, no revision of
// etcd may hold a cycle, and the only error is that a move is illegal.
func TestNoRevisionEverHoldsACycle(t *testing.T) {
	const replicas, workers, moves = 3, 4, 120
	namespaces := make([]string, 12)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("n%d", i)
	}
	for _, delay := range []time.Duration{0, 200 * time.Millisecond} {
		t.Run(fmt.Sprintf("trees %s behind", delay), func(t *testing.T) {
			storages, etcd := registries(t, replicas, delay, namespaces)
			recording := history.Record(t, etcd, prefix)
			var wg sync.WaitGroup
			for worker := range replicas * workers {
				wg.Go(func() {
					random := rand.New(rand.NewPCG(uint64(worker), uint64(delay)))
					for range moves {
						namespace, parent := namespaces[random.IntN(len(namespaces))], namespaces[random.IntN(len(namespaces))]
						if random.IntN(4) == 0 {
							parent = ""
						}
						err := move(t.Context(), storages[worker%replicas], namespace, parent)
						if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) {
							t.Errorf("%s below %q: %v", namespace, parent, err)
						}
					}
				})
			}
			wg.Wait()
			committed, cyclic := recording.Finish(t.Context())
			t.Logf("%d moves committed", committed)
			if committed < 100 {
				t.Errorf("only %d moves were committed: the test shows nothing", committed)
			}
			for _, cycle := range cyclic {
				t.Error(cycle)
			}
		})
	}
}

// A replica that has not heard of a move yet must not refuse what is legal by now.
func TestAStaleReplicaDoesNotRefuseALegalMove(t *testing.T) {
	storages, _ := registries(t, 2, time.Minute, []string{"a", "b"})
	for _, step := range []struct {
		replica           int
		namespace, parent string
	}{
		{0, "b", "a"}, // only etcd knows
		{1, "b", ""},  // the stale replica takes b for a root already
		{0, "a", "b"}, // legal, though the first replica's tree knew b below a at most
		{1, "a", ""},
		{0, "b", "a"},
	} {
		if err := move(t.Context(), storages[step.replica], step.namespace, step.parent); err != nil {
			t.Fatalf("%s below %q through replica %d: %v", step.namespace, step.parent, step.replica, err)
		}
	}
	// And what has become illegal is refused by every replica.
	for replica, storage := range storages {
		if err := move(t.Context(), storage, "a", "b"); !apierrors.IsInvalid(err) {
			t.Errorf("replica %d: a cycle was answered with %v, want Invalid", replica, err)
		}
	}
}
