package quotas

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func counted(q *Quota) corev1.ResourceList { return q.Counted }

func add(t *testing.T, s *Store, namespace, name string, hard corev1.ResourceList) *Quota {
	t.Helper()
	q, err := NewQuota(&v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: "1"},
		Spec:       v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(hard)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.SetQuota(q)
	return q
}

// Quotas that were stored before their sizes were limited do not keep out limits from above.
func TestQuotasFromAboveFitFirst(t *testing.T) {
	tree := treetest.New("ns root", "ns team", "parent team root", "ns leaf", "parent leaf team")
	s := New()
	fits := add(t, s, "root", "z", corev1.ResourceList{"services": resource.MustParse("2")})
	var large []*Quota
	for i := range 40 {
		hard := corev1.ResourceList{"services": resource.MustParse("1")}
		for j := range 99 {
			hard[corev1.ResourceName(fmt.Sprintf("requests.%s%02d%02d/x", strings.Repeat("d", 230), i, j))] = resource.MustParse("1")
		}
		large = append(large, add(t, s, "team", fmt.Sprintf("a%02d", i), hard))
	}
	for _, namespace := range []string{"root", "team", "leaf"} {
		limits := s.Limits(tree, namespace, counted)[""]
		if _, ok := limits.Hard["services"]; !ok {
			t.Errorf("%s has no limit of services", namespace)
		}
		size := 0
		for name := range limits.Hard {
			size += len(name)
		}
		if size > quota.MaxChainSize {
			t.Errorf("the names of the limits in %s have %d bytes", namespace, size)
		}
	}
	if !s.Fits(tree, fits) || !s.Fits(tree, large[0]) || s.Fits(tree, large[39]) {
		t.Error("those that fit are not those from above and the first ones")
	}
}

// A tenant has quotas of other scopes in each level of its tree, the lowest first, so that none is rejected.
func TestScopesFromAboveFitFirst(t *testing.T) {
	commands, s, parent := []string{}, New(), ""
	for _, namespace := range []string{"root", "team", "leaf"} {
		commands = append(commands, "ns "+namespace)
		if parent != "" {
			commands = append(commands, "parent "+namespace+" "+parent)
		}
		parent = namespace
		for i := range quota.MaxChainScopes * 2 / 3 {
			name := fmt.Sprintf("%s-%02d", namespace, i)
			q, err := NewQuota(&v1beta1.HierarchicalResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), ResourceVersion: "1"},
				Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{"pods": resource.MustParse("1")}, ScopeSelector: &v1beta1.QuotaScopeSelector{
					MatchExpressions: []v1beta1.QuotaScopeRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{name}}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			s.SetQuota(q)
		}
	}
	tree := treetest.New(commands...)
	if got := len(s.Limits(tree, "leaf", counted)); got != quota.MaxChainScopes {
		t.Errorf("%d scopes are enforced in the leaf, want %d", got, quota.MaxChainScopes)
	}
	for name, fits := range map[string]bool{"root-12": true, "team-06": true, "team-07": false, "leaf-00": false} {
		namespace, _, _ := strings.Cut(name, "-")
		if got := s.Fits(tree, s.Quota(Key{Namespace: namespace, Name: name})); got != fits {
			t.Errorf("%s fits: %v, want %v", name, got, fits)
		}
	}
	same := add(t, s, "root", "zz", corev1.ResourceList{"services": resource.MustParse("2")})
	if !s.Fits(tree, same) || s.Fits(tree, s.Quota(Key{Namespace: "team", Name: "team-06"})) {
		t.Error("a quota that is added above does not take the place of one below")
	}
}

// Limits with such exponents were stored before they were rejected.
func TestLimitsThatCannotBeCountedAreIgnored(t *testing.T) {
	start := time.Now()
	tree := treetest.New("ns root", "ns team", "parent team root")
	s := New()
	add(t, s, "root", "a", corev1.ResourceList{"pods": resource.MustParse("5"), "limits.cpu": resource.MustParse("1e5000000")})
	q := add(t, s, "team", "b", corev1.ResourceList{
		"pods": resource.MustParse("1e40000000"), "limits.cpu": resource.MustParse("1e2147483647"),
		"count/roles.rbac.authorization.k8s.io": resource.MustParse("0"), "secrets": resource.MustParse("3"),
	})
	limits := s.Limits(tree, "team", counted)[""]
	pods, secrets := limits.Hard["pods"], limits.Hard["secrets"]
	if len(limits.Hard) != 2 || pods.String() != "5" || secrets.String() != "3" {
		t.Errorf("the limits are %v", limits.Hard)
	}
	if want := []corev1.ResourceName{"count/roles.rbac.authorization.k8s.io", "limits.cpu", "pods"}; !slices.Equal(q.Ignored, want) {
		t.Errorf("ignored are %v, want %v", q.Ignored, want)
	}
	o := NewObject(&corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Used: corev1.ResourceList{"pods": resource.MustParse("1e2147483647")}}})
	if used := o.Used["pods"]; used.Cmp(pods) <= 0 {
		t.Errorf("the use is %s", used.String())
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it takes %s", took)
	}
}

// Users who may update a ResourceQuota may change its managed fields.
func TestManagedFieldsThatNoReviewCanContainAreUnreadable(t *testing.T) {
	fields := func(levels int) *metav1.FieldsV1 {
		return metav1.NewFieldsV1(strings.Repeat(`{"f:a":`, levels-1) + "{}" + strings.Repeat("}", levels-1))
	}
	for name, test := range map[string]struct {
		fields     []metav1.ManagedFieldsEntry
		unreadable bool
	}{
		"none":        {nil, false},
		"a few":       {[]metav1.ManagedFieldsEntry{{Manager: "a", FieldsV1: fields(5), Time: ptr.To(metav1.Now())}, {Subresource: "status"}}, false},
		"many levels": {[]metav1.ManagedFieldsEntry{{FieldsV1: fields(9_995)}}, true},
		"a late time": {[]metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}}}, true},
	} {
		if got := NewObject(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{ManagedFields: test.fields}}).Unreadable; got != test.unreadable {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
