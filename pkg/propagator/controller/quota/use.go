package quota

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// tallies count the use of quotas. A change in a namespace costs as much as there are quotas above it, whatever the
// size of their subtrees: it is only noted, and the namespace is counted again when the use is asked for.
type tallies struct {
	byQuota map[quotas.Key]*tally
	// counting holds, by namespace, the quotas that count use in it.
	counting map[string]sets.Set[quotas.Key]
}

// tally is the use of one quota.
type tally struct {
	total corev1.ResourceList
	// used holds the use in each namespace that uses something.
	used map[string]corev1.ResourceList
	// outdated are the namespaces to count again.
	outdated sets.Set[string]
}

func newTallies() tallies {
	return tallies{byQuota: map[quotas.Key]*tally{}, counting: map[string]sets.Set[quotas.Key]{}}
}

// add begins to count a quota in the namespaces of its subtree.
func (t *tallies) add(key quotas.Key, subtree []string) {
	t.byQuota[key] = &tally{total: corev1.ResourceList{}, used: map[string]corev1.ResourceList{}, outdated: sets.New(subtree...)}
}

// forget ends it.
func (t *tallies) forget(key quotas.Key) {
	tally := t.byQuota[key]
	if tally == nil {
		return
	}
	for namespace := range tally.used {
		t.uncount(namespace, key)
	}
	delete(t.byQuota, key)
}

func (t *tallies) uncount(namespace string, key quotas.Key) {
	delete(t.counting[namespace], key)
	if len(t.counting[namespace]) == 0 {
		delete(t.counting, namespace)
	}
}

// outdate notes that the use in a namespace has changed, or that the namespace was moved, and returns the quotas that
// this affects: those that govern it, and those that have counted it until now.
func (t *tallies) outdate(namespace string, governing []*quotas.Quota) []quotas.Key {
	var affected []quotas.Key
	note := func(key quotas.Key) {
		if tally := t.byQuota[key]; tally != nil {
			tally.outdated.Insert(namespace)
			affected = append(affected, key)
		}
	}
	for _, q := range governing {
		note(q.Key)
	}
	for key := range t.counting[namespace] {
		note(key)
	}
	return affected
}

// of returns the use of a quota, up to date.
func (t *tallies) of(s *cache.State, q *quotas.Quota) *tally {
	tally := t.byQuota[q.Key]
	if tally == nil {
		return newTally()
	}
	for namespace := range tally.outdated {
		used := useIn(s, q, namespace)
		tally.set(namespace, used)
		if len(used) == 0 {
			t.uncount(namespace, q.Key)
			continue
		}
		if t.counting[namespace] == nil {
			t.counting[namespace] = sets.New[quotas.Key]()
		}
		t.counting[namespace].Insert(q.Key)
	}
	clear(tally.outdated)
	return tally
}

func newTally() *tally {
	return &tally{total: corev1.ResourceList{}, used: map[string]corev1.ResourceList{}}
}

func (t *tally) set(namespace string, used corev1.ResourceList) {
	for name, quantity := range t.used[namespace] {
		total := t.total[name].DeepCopy()
		total.Sub(quantity)
		t.total[name] = total
	}
	for name, quantity := range used {
		total := t.total[name].DeepCopy()
		total.Add(quantity)
		t.total[name] = total
	}
	delete(t.used, namespace)
	if len(used) > 0 {
		t.used[namespace] = used
	}
}

// totals returns the use of each limited resource, zero for those that are not used.
func (t *tally) totals(hard corev1.ResourceList) corev1.ResourceList {
	totals := corev1.ResourceList{}
	for name, limit := range hard {
		totals[name] = resource.Quantity{Format: limit.Format}
		if total, ok := t.total[name]; ok && !total.IsZero() {
			totals[name] = hnc.Exact(total)
		}
	}
	return totals
}

// useIn returns what a quota counts in a namespace: nothing outside of its subtree, and no zeros.
func useIn(s *cache.State, q *quotas.Quota, namespace string) corev1.ResourceList {
	if s.Tree.Excluded(q.Namespace) || !slices.Contains(s.Tree.Chain(namespace), q.Namespace) {
		return nil
	}
	used := corev1.ResourceList{}
	if o := s.Quotas.Object(quotas.Key{Namespace: namespace, Name: q.Scope.ObjectName()}); o != nil {
		maps.Copy(used, o.Used)
	}
	if q.CountsSubnamespaces() {
		used[hnc.ResourceSubnamespaces] = *resource.NewQuantity(int64(s.Tree.Claims(namespace)), resource.DecimalSI)
	}
	maps.DeleteFunc(used, func(name corev1.ResourceName, quantity resource.Quantity) bool {
		_, limited := q.Hard[name]
		return !limited || quantity.IsZero()
	})
	return used
}
