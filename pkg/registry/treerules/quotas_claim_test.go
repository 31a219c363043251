package treerules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// recorded is the use of namespaces, and the quotas.
type recorded struct {
	quotas []hnc.HierarchicalResourceQuota
	use    map[string]corev1.ResourceList
}

func (r recorded) Get(context.Context, bool) (*limits.Limits, error) {
	return limits.New(1, r.quotas...), nil
}

func (r recorded) Read(_ context.Context, names ...string) ([]fence.Entry, error) {
	entries := make([]fence.Entry, len(names))
	for i, name := range names {
		entries[i] = fence.Entry{Name: name, Revision: 7}
	}
	return entries, nil
}

// Subtrees adds up the use of moved. Nothing is used elsewhere.
func (r recorded) Subtrees(_ context.Context, moved, _ []string) (ScopedUse, map[string]ScopedUse, error) {
	sum := ScopedUse{}
	for _, name := range moved {
		sum[""] = quotav1.Add(sum[""], r.use[name])
	}
	return sum, nil, nil
}

func (r recorded) addTo(f *fixture) {
	config := f.config()
	config.Quotas, config.Use, config.Records = r, r, r
}

func quotaIn(namespace, name, resourceName, hard string) hnc.HierarchicalResourceQuota {
	return hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: hnc.HierarchicalResourceQuotaSpec{Hard: resources(resourceName, hard)}}
}

func resources(name, quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(quantity)}
}

// A claim that adopts orphans brings their use and their descendants below the parent, like a move.
func TestAdoptedUseIsLimited(t *testing.T) {
	for name, row := range map[string]struct {
		quota hnc.HierarchicalResourceQuota
		want  string
	}{
		"use that fits":              {quota: quotaIn("a", "q", "pods", "5")},
		"use":                        {quotaIn("a", "q", "pods", "4"), `"q", requested: pods=5, used: pods=0, limited: pods=4`},
		"use without a limit":        {quota: quotaIn("a", "q", "secrets", "0")},
		"namespaces that fit":        {quota: quotaIn("a", "q", string(hnc.ResourceSubnamespaces), "3")},
		"namespaces":                 {quotaIn("a", "q", string(hnc.ResourceSubnamespaces), "2"), "requested: count/subnamespaces.hnc.x-k8s.io=3, used: count/subnamespaces.hnc.x-k8s.io=0"},
		"a quota of something else":  {quota: quotaIn("elsewhere", "q", "pods", "0")},
		"a quota that moves with it": {quota: quotaIn("orphan", "q", "pods", "0")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, map[string]string{"a": "", "elsewhere": "", "orphan": "gone", "sub": "orphan"})
			recorded{[]hnc.HierarchicalResourceQuota{row.quota}, map[string]corev1.ResourceList{"orphan": resources("pods", "2"), "sub": resources("pods", "3")}}.addTo(f)
			f.admin["user/"] = true
			guard, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a"))
			if row.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want Forbidden: %s", err, row.want)
			}
			if name == "use that fits" && guard.UnchangedRecords[limits.Ledger("a")] != 7 {
				t.Errorf("the guard compares %v, not the use below the parent", guard.UnchangedRecords)
			}
		})
	}
}

// The annotation for moves that exceed quotas must not make a permission to update one quota a permission to exceed
// all.
func TestEachExceededQuotaNeedsAPermission(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": ""})
	r := recorded{[]hnc.HierarchicalResourceQuota{quotaIn("a", "mine", "pods", "1"), quotaIn("a", "theirs", "pods", "2")}, map[string]corev1.ResourceList{"b": resources("pods", "3")}}
	r.addTo(f)
	f.admin["user/a"] = true
	f.updates = map[string]bool{"user/a/mine": true}
	ctx := WithExceedingQuotas(as(t, "user"))
	if _, err := f.Moves.Validate(ctx, f.existing(t, "b"), "a"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"theirs"`) {
		t.Errorf("got %v, want Forbidden because of the quota of others", err)
	}
	f.updates["user/a/theirs"] = true
	if _, err := f.Moves.Validate(ctx, f.existing(t, "b"), "a"); err != nil {
		t.Error(err)
	}
}

// A reservation that a move does not compare could add use that the move has not counted.
func TestMovesCompareALedgerForEachReservation(t *testing.T) {
	subtree := []Node{{Name: "top"}, {Name: "x", Depth: 1}, {Name: "x1", Depth: 2}, {Name: "x2", Depth: 3}, {Name: "y", Depth: 1}, {Name: "y1", Depth: 2}}
	all := func(names ...string) *limits.Limits {
		var quotas []hnc.HierarchicalResourceQuota
		for _, name := range names {
			quotas = append(quotas, quotaIn(name, "q", "pods", "1"))
		}
		return limits.New(1, quotas...)
	}
	for _, row := range []struct {
		limits *limits.Limits
		old    []string
		want   string
	}{
		{all("x1", "x2", "y"), nil, "x1 y"},
		{all("top", "x1", "y"), nil, "top"},
		{all("x", "x2", "y1"), nil, "x y1"},
		{all("x", "old"), []string{"old", "root"}, ""},
		{all("x", "y1"), []string{"old", "root"}, "x y1"},
	} {
		var names []string
		for _, record := range ledgersInside(row.limits, row.old, subtree) {
			names = append(names, strings.TrimPrefix(record, limits.LedgerFolder+"/"))
		}
		if got := strings.Join(names, " "); got != row.want {
			t.Errorf("got %s, want %s", got, row.want)
		}
	}
}

func TestNumberOfQuotasInANamespaceIsLimited(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": ""})
	var r recorded
	for i := range maxQuotas {
		r.quotas = append(r.quotas, quotaIn("a", fmt.Sprintf("q%d", i), "pods", "1"))
	}
	r.addTo(f)
	more := quotaIn("a", "more", "pods", "1")
	if _, err := f.Index.AllowQuota(as(t, "user"), "a", &more, nil); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "has 50 quotas already") {
		t.Errorf("got %v, want Forbidden", err)
	}
	// Others may be created at the same time. Namespaces that join the subtree do not matter.
	if guard, err := f.Index.AllowQuota(as(t, "user"), "b", &more, nil); err != nil || !maps.Equal(guard.UnchangedRecords, map[string]int64{limits.Quotas("b"): 7}) {
		t.Errorf("compared: %v; %v", guard, err)
	}
}

// large returns a quota of n resources with long names.
func large(namespace, name string, n int) hnc.HierarchicalResourceQuota {
	q := quotaIn(namespace, name, "pods", "1")
	q.Spec.Hard = corev1.ResourceList{}
	for i := range n {
		q.Spec.Hard[corev1.ResourceName(fmt.Sprintf("requests.%s%03d/x", strings.Repeat("d", 180), i))] = resource.MustParse("1")
	}
	return q
}

// Too many resources would make the ResourceQuotas below too large to be written, and limits from above would not reach
// them.
func TestQuotasThatDoNotFitAreRejected(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "a": "root", "b": "a", "c": "b", "d": "c", "e": "d", "kube-system": "root", "f": "kube-system"})
	var r recorded
	r.quotas = append(r.quotas, large("root", "q", 40), large("c", "q", 70), large("kube-system", "q", 70), large("elsewhere", "q", 100))
	r.addTo(f)
	for _, row := range []struct {
		what  string
		quota hnc.HierarchicalResourceQuota
		old   int
		want  string
	}{
		{"a small one in a full namespace", large("c", "more", 3), 0, ""},
		{"too much for the namespace", large("c", "more", 10), 0, `quotas in namespace "c" would have`},
		{"the same quota, smaller", large("c", "q", 60), 70, ""},
		{"the same quota, larger", large("c", "q", 79), 70, `quotas in namespace "c" would have`},
		{"a stored one that is too large, smaller", large("c", "q", 99), 100, ""},
		{"alone too much", large("d", "q", 100), 0, `quotas in namespace "d" would have`},
		{"what fits with those above", large("d", "q", 10), 0, ""},
		{"too much with those above", large("e", "q", 50), 0, `quotas in namespace "e" and above it would have`},
		{"what fits below an excluded namespace", large("f", "q", 50), 0, ""},
		{"elsewhere", large("root", "more", 3), 0, ""},
	} {
		var old *hnc.HierarchicalResourceQuota
		if row.old > 0 {
			q := large("c", "q", row.old)
			old = &q
		}
		_, err := f.Index.AllowQuota(as(t, "user"), row.quota.Namespace, &row.quota, old)
		if (err == nil) != (row.want == "") || err != nil && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", row.what, err, row.want)
		}
	}
}

// All quotas above a namespace are evaluated for it.
func TestManyQuotasAboveANamespaceAreRejected(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "a": "root", "b": "a"})
	var r recorded
	for namespace, n := range map[string]int{"root": 50, "a": 50, "b": 46} {
		for i := range n {
			r.quotas = append(r.quotas, quotaIn(namespace, fmt.Sprint("q", i), "pods", "1"))
		}
	}
	r.addTo(f)
	more := quotaIn("b", "more", "pods", "1")
	if _, err := f.Index.AllowQuota(as(t, "user"), "b", &more, nil); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `all quotas in namespace "b" and above it would have`) {
		t.Errorf("got %v, want Forbidden", err)
	}
}

// scoped returns n quotas, each of the scope of one priority class.
func scoped(namespace, class string, n int) []hnc.HierarchicalResourceQuota {
	quotas := make([]hnc.HierarchicalResourceQuota, n)
	for i := range quotas {
		quotas[i] = quotaIn(namespace, fmt.Sprint(class, i), "pods", "1")
		quotas[i].Spec.ScopeSelector = &hnc.QuotaScopeSelector{MatchExpressions: []hnc.QuotaScopeRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{fmt.Sprint(class, i)}}}}
	}
	return quotas
}

// Each is a ResourceQuota in every namespace below, and a record of its use.
func TestManyScopesAboveANamespaceAreRejected(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "a": "root", "full": "a", "beside": "root"})
	above := scoped("root", "above", quota.MaxChainScopes-2)
	stored, changed := scoped("a", "above", 1)[0], scoped("a", "other", 1)[0]
	stored.Name, changed.Name = "stored", "stored"
	// More than fit have come together by a move.
	inner, again := scoped("full", "inner", 2), scoped("full", "inner", 1)[0]
	again.Name = "again"
	r := recorded{quotas: slices.Concat(above, scoped("a", "own", 2), inner, []hnc.HierarchicalResourceQuota{stored})}
	r.addTo(f)
	for _, row := range []struct {
		what, want string
		quota      hnc.HierarchicalResourceQuota
	}{
		{"one more", `spec: all quotas in namespace "a" and above it would have 21 different combinations of scopes and scopeSelector, more than 20`, scoped("a", "more", 1)[0]},
		{"one without scopes", "spec: all quotas", quotaIn("a", "more", "pods", "1")},
		{"one of a scope from above", "", scoped("a", "above", 1)[0]},
		{"a stored one that gets another scope", "spec: all quotas", changed},
		{"a stored one that stays", "", stored},
		{"one of a scope from above, where there are too many", "", scoped("full", "own", 1)[0]},
		// It would be enforced before others of its namespace.
		{"one of a scope that does not fit", "spec: all quotas", again},
		{"one beside those", "", scoped("beside", "more", 1)[0]},
		// Tenants do not keep out quotas from above.
		{"one above those", "", scoped("root", "more", 1)[0]},
	} {
		var old *hnc.HierarchicalResourceQuota
		if row.quota.Name == stored.Name {
			old = &stored
		}
		_, err := f.Index.AllowQuota(as(t, "user"), row.quota.Namespace, &row.quota, old)
		if (err == nil) != (row.want == "") || err != nil && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", row.what, err, row.want)
		}
	}
}
