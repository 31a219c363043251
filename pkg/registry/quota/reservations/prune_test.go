package reservations

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
)

// subtrees returns the names of the records about subtrees and the quotas above them.
func (s *store) subtrees() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.records {
		if strings.HasPrefix(name, limits.LedgerFolder) || strings.HasPrefix(name, limits.ChildrenFolder) || strings.HasPrefix(name, limits.QuotasFolder) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestRecordsOfSubtreesWithoutQuotasAreDeleted(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	s.limit("elsewhere", "5")
	for i := range 2 * maxOperations {
		s.limit(fmt.Sprintf("gone-%d", i), "5")
	}
	s.mu.Lock()
	for _, name := range []string{"a", "b", "elsewhere"} {
		s.put(limits.Children(name), nil)
		s.put(limits.Quotas(name), nil)
	}
	// The quota of b limits sub-namespaces only; those of others are deleted.
	s.quotas = slices.DeleteFunc(s.quotas, func(q hnc.HierarchicalResourceQuota) bool { return q.Namespace != "a" })
	s.quotas = append(s.quotas, hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "children"}, Spec: hnc.HierarchicalResourceQuotaSpec{
		Hard: corev1.ResourceList{hnc.ResourceSubnamespaces: resource.MustParse("1")}}})
	s.revision++
	s.put(limits.Record, nil)
	s.mu.Unlock()
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "3")); err != nil {
		t.Fatal(err)
	}
	o := &Observer{ledger: l, client: liveQuotas(status("b", 10, "0")), queue: newQueue[key]()}
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := s.subtrees(), strings.Join([]string{limits.Ledger("a"), limits.Quotas("a"), limits.Quotas("b"), limits.Children("b")}, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := used(t, l, "a"); got != "3" {
		t.Errorf("got %s pods, want 3", got)
	}
}

// A quota may be created while records are deleted.
func TestRecordsAreDeletedOnlyUnderTheLimitsThatWereRead(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	outdated := limits.New(s.revision - 1)
	l.config.Limits = fixedLimits{outdated}
	if err := l.prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.subtrees(); got != limits.Ledger("a") {
		t.Errorf("got %s, want the record of the new quota", got)
	}
}

type fixedLimits struct{ *limits.Limits }

func (l fixedLimits) Get(context.Context, bool) (*limits.Limits, error) { return l.Limits, nil }
