package reservations

import (
	"math/rand"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// versionedQuotas stores ResourceQuotas as kube-apiserver does: a write succeeds only on the version that it has read.
type versionedQuotas struct {
	mu      sync.Mutex
	version int
	quotas  map[string]*corev1.ResourceQuota
	// max is the greatest sum of all uses that was ever stored.
	max int64
}

func (k *versionedQuotas) get(namespace string) *corev1.ResourceQuota {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.quotas[namespace].DeepCopy()
}

func (k *versionedQuotas) put(old *corev1.ResourceQuota, used int64) *corev1.ResourceQuota {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.quotas[old.Namespace].ResourceVersion != old.ResourceVersion {
		return nil
	}
	k.version++
	stored := status(old.Namespace, k.version, strconv.FormatInt(used, 10))
	k.quotas[old.Namespace] = stored
	var sum int64
	for _, rq := range k.quotas {
		sum += podsOf(rq)
	}
	k.max = max(k.max, sum)
	return stored.DeepCopy()
}

func podsOf(rq *corev1.ResourceQuota) int64 {
	n := rq.Status.Used[corev1.ResourcePods]
	return n.Value()
}

// Writers increase and decrease the use of 12 namespaces through three replicas, while namespaces move below the root.
// The stored use never exceeds the limit, and in the end all of it can be used.
func TestConcurrentReservationsNeverExceedTheLimit(t *testing.T) {
	const limit = 40
	names := []string{"root", "left", "right"}
	parents := map[string]string{"left": "root", "right": "root"}
	for i := range 9 {
		name := "n" + strconv.Itoa(i)
		names, parents[name] = append(names, name), "left"
	}
	s, c := newStore(parents), newCluster(t, names...)
	s.limit("root", strconv.Itoa(limit))
	s.limit("left", "1000")
	k := &versionedQuotas{quotas: map[string]*corev1.ResourceQuota{}}
	for i, name := range names {
		k.quotas[name] = status(name, i+1, "0")
	}
	k.version = len(names)
	replicas := []*Ledger{s.replica(t, c), s.replica(t, c), s.replica(t, c)}
	var writers sync.WaitGroup
	for w := range 8 {
		r := rand.New(rand.NewSource(int64(w)))
		writers.Go(func() {
			for range 250 {
				replica, name := replicas[r.Intn(len(replicas))], names[r.Intn(len(names))]
				switch r.Intn(10) {
				case 0:
					s.move("n"+strconv.Itoa(r.Intn(9)), []string{"left", "right"}[r.Intn(2)])
				case 1, 2, 3:
					old := k.get(name)
					if stored := k.put(old, podsOf(old)/2); stored != nil {
						observe(t, replica, stored)
					}
				default:
					increase(t, k, replica, name, int64(1+r.Intn(4)))
				}
			}
		})
	}
	writers.Wait()
	if k.max > limit {
		t.Errorf("%d pods were stored, the limit is %d", k.max, limit)
	}
	if k.max < limit {
		t.Errorf("only %d pods were stored; the test does not reach the limit of %d", k.max, limit)
	}
	var sum int64
	for _, name := range names {
		observe(t, replicas[0], k.get(name))
		sum += podsOf(k.get(name))
	}
	// Reservations of writes that have failed stay until the next write.
	for _, name := range names {
		if stored := k.put(k.get(name), podsOf(k.get(name))); stored != nil {
			observe(t, replicas[1], stored)
		}
	}
	if got, want := used(t, replicas[2], "root"), strconv.FormatInt(sum, 10); got != want {
		t.Errorf("%s pods are recorded, %s are stored", got, want)
	}
	for ; sum < limit; sum++ {
		increase(t, k, replicas[0], "n3", 1)
	}
	if got := used(t, replicas[1], "root"); got != strconv.Itoa(limit) {
		t.Errorf("got %s pods, want all %d", got, limit)
	}
}

// increase reserves use and stores it, as kube-apiserver's quota admission does.
func increase(t *testing.T, k *versionedQuotas, l *Ledger, namespace string, n int64) {
	t.Helper()
	for range 3 {
		old := k.get(namespace)
		after := podsOf(old) + n
		err := l.Reserve(t.Context(), old, status(namespace, 0, strconv.FormatInt(after, 10)))
		if apierrors.IsForbidden(err) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		if stored := k.put(old, after); stored != nil {
			observe(t, l, stored)
			return
		}
	}
}
