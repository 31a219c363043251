package reservations

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
)

// filling returns limits of a quota that leaves room for quotas of a size in the namespaces below.
func filling(left int) corev1.ResourceList {
	of := func(n int) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName("requests.example.com/" + strings.Repeat("r", n)): resource.MustParse("1")}
	}
	return of(quota.MaxChainSize - left - quota.Size(&hnc.HierarchicalResourceQuotaSpec{Hard: of(0)}))
}

// A quota is not enforced while those above it leave no room. What is used meanwhile counts when it is enforced again.
func TestUseCountsForAQuotaThatIsEnforcedAgain(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, l *Ledger){
		"reserved": func(t *testing.T, l *Ledger) {
			if err := l.Reserve(t.Context(), status("c", 11, "2"), status("c", 11, "9")); err != nil {
				t.Errorf("a quota that does not fit is enforced: %v", err)
			}
		},
		"observed": func(t *testing.T, l *Ledger) { observe(t, l, status("c", 11, "9")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(map[string]string{"b": "a", "c": "b"})
			l := s.replica(t, newCluster(t, "a", "b", "c"))
			s.limit("b", "5")
			if err := l.Reserve(t.Context(), status("c", 10, "0"), status("c", 10, "2")); err != nil {
				t.Fatal(err)
			}
			s.set("a", "large", filling(0))
			use(t, l)
			s.set("a", "large", nil)
			if got := used(t, l, "b"); got != "9" {
				t.Errorf("got %s pods, want 9", got)
			}
			if err := l.Reserve(t.Context(), status("b", 12, "0"), status("b", 12, "1")); !apierrors.IsForbidden(err) {
				t.Errorf("10 of 5: %v", err)
			}
		})
	}
}

// It is Ready as soon as it fits.
func TestAQuotaBelowAnExcludedNamespaceIsEnforced(t *testing.T) {
	s := newStore(map[string]string{"b": "a"})
	s.set("a", "large", filling(0))
	s.limit("b", "5")
	s.excluded = []string{"a"}
	if err := s.replica(t, newCluster(t, "a", "b")).Reserve(t.Context(), status("b", 1, "0"), status("b", 1, "6")); !apierrors.IsForbidden(err) {
		t.Errorf("6 of 5: %v", err)
	}
}

// Quotas are created bottom-up in a deep chain, each of which fits with those above it at the time.
func TestReservationsReadOnlyTheLedgersOfQuotasThatFit(t *testing.T) {
	const levels, most = 60, 4
	parents, names := map[string]string{}, []string{"n0"}
	for i := 1; i < levels; i++ {
		names = append(names, fmt.Sprint("n", i))
		parents[names[i]] = names[i-1]
	}
	s := newStore(parents)
	hard := pods("5")
	for i := range 400 {
		hard[corev1.ResourceName(fmt.Sprintf("requests.example.com/%d", i))] = resource.MustParse("1")
	}
	for _, name := range names {
		s.set(name, "all", hard)
	}
	l := s.replica(t, newCluster(t, names...))
	leaf := names[levels-1]
	all := func(n string) *corev1.ResourceQuota {
		rq := status(leaf, 1, n)
		for name := range hard {
			if name != corev1.ResourcePods {
				rq.Status.Used[name] = resource.MustParse("1")
			}
		}
		return rq
	}
	if err := l.Reserve(t.Context(), status(leaf, 1, "0"), all("5")); err != nil {
		t.Fatal(err)
	}
	bytes := 0
	for _, name := range names {
		bytes += len(s.records[limits.Ledger(name)].Value)
	}
	if bytes == 0 || bytes > 2*quota.MaxChainSize {
		t.Errorf("the ledgers have %d bytes", bytes)
	}
	s.reads = 0
	if err := l.Reserve(t.Context(), status(leaf, 1, "0"), all("6")); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	if s.reads > most {
		t.Errorf("a rejection costs %d reads, want at most %d", s.reads, most)
	}
}

// Quotas come and go, and namespaces move, so that other quotas are enforced. Each of them always counts all use.
func TestLedgersContainTheUseThatEnforcedQuotasLimit(t *testing.T) {
	names := []string{"root", "left", "right", "n0", "n1", "n2"}
	resources := []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceSecrets}
	for seed := range int64(5) {
		r := rand.New(rand.NewSource(seed))
		s := newStore(map[string]string{"left": "root", "right": "root", "n0": "left", "n1": "left", "n2": "right"})
		replicas := []*Ledger{s.replica(t, newCluster(t, names...)), s.replica(t, newCluster(t, names...))}
		version, stored := 1, map[string]*corev1.ResourceQuota{}
		for _, name := range names {
			stored[name] = status(name, version, "0")
			s.limit(name, "1000000")
		}
		for step := range 200 {
			l, at := replicas[r.Intn(2)], names[r.Intn(len(names))]
			switch r.Intn(6) {
			case 0:
				s.set(at, "large", []corev1.ResourceList{nil, filling(0), filling(250), filling(500)}[r.Intn(4)])
			case 1:
				s.set(at, "secrets", []corev1.ResourceList{nil, {corev1.ResourceSecrets: resource.MustParse("1000000")}}[r.Intn(2)])
			case 2:
				s.move(names[3+r.Intn(3)], names[r.Intn(3)])
			case 3:
				s.move("right", []string{"root", "left", ""}[r.Intn(3)])
			default:
				version++
				updated := status(at, version, fmt.Sprint(r.Intn(9)))
				updated.Status.Used[corev1.ResourceSecrets] = *resource.NewQuantity(int64(r.Intn(9)), resource.DecimalSI)
				if r.Intn(3) > 0 {
					if err := l.Reserve(t.Context(), stored[at], updated); err != nil {
						t.Fatal(err)
					}
				}
				observe(t, l, updated)
				stored[at] = updated
			}
			known, err := l.config.Limits.Get(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			_, sums, err := l.Subtrees(t.Context(), nil, names)
			if err != nil {
				t.Fatal(err)
			}
			for _, top := range names {
				for _, q := range known.Enforced(s.chain(top), s.Excluded)[top].Of("") {
					for _, name := range resources {
						if _, limited := q.Hard[name]; !limited {
							continue
						}
						var want resource.Quantity
						for of, rq := range stored {
							if slices.Contains(s.chain(of), top) {
								want.Add(rq.Status.Used[name])
							}
						}
						if got := sums[top][""][name]; got.Cmp(want) != 0 {
							t.Fatalf("seed %d, step %d: below %s, %s %s are recorded, %s are used", seed, step, top, got.String(), name, want.String())
						}
					}
				}
			}
		}
	}
}
