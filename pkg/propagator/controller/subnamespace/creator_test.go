package subnamespace

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

func TestWhoGetsTheCreatorsRole(t *testing.T) {
	there := []string{"role admin", "ns p", "asked p c", "by p c jane", "ns c sub-of p", "parent c p"}
	asked := time.Unix(2, 0)
	for name, test := range map[string]struct {
		given []string
		due   bool
	}{
		"a new sub-namespace":                              {[]string{"role admin", "ns p", "asked p c", "by p c jane"}, true},
		"the same, more than an hour later":                {[]string{"role admin", "ns p", "asked p c", "by p c jane"}, false},
		"created, not yet bound, and an hour later":        {append(there, "pending c s-c"), false},
		"without a role":                                   {[]string{"ns p", "asked p c", "by p c jane"}, false},
		"asked for by nobody":                              {[]string{"role admin", "ns p", "asked p c"}, false},
		"created, and not yet bound":                       {append(there, "pending c s-c"), true},
		"created, and its parent is an orphan now":         {append(there, "pending c s-c", "parent p gone"), false},
		"bound already":                                    {there, false},
		"created for an earlier Subnamespace":              {append(there, "pending c s-another"), false},
		"adopted: the namespace was there before":          {[]string{"role admin", "ns p", "ns c sub-of p", "parent c p", "asked p c", "by p c jane"}, false},
		"the namespace of a ready one is gone":             {[]string{"role admin", "ns p", "ready p c", "by p c jane", "parent c p"}, true},
		"pending although ready, and the role was removed": {[]string{"ns p", "ready p c", "by p c jane", "ns c sub-of p", "parent c p", "pending c s-c"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := metav1.NewTime(asked.Add(creatorPeriod))
			if strings.HasSuffix(name, "hour later") {
				now = metav1.NewTime(now.Add(time.Second))
			}
			plan := planFor(treetest.New(test.given...), tree.Key{Parent: "p", Name: "c"}, now)
			if due := plan.creator != nil; due != test.due {
				t.Fatalf("got %+v", plan)
			}
			if test.due && plan.creator.RoleRef.Name != "admin" {
				t.Errorf("got the role %v", plan.creator.RoleRef)
			}
			if plan.action == createNamespace && (plan.namespace.Annotations[hnc.AnnotationCreatorPending] == "s-c") != test.due {
				t.Errorf("got the annotations %v", plan.namespace.Annotations)
			}
		})
	}
}

// Somebody else may have created the namespace while its copies were written.
func TestTheCreatorsRoleIsForTheirNamespace(t *testing.T) {
	for pending, want := range map[string]int{"s-c": 1, "s-another": 0, "": 0, "vanished": 0, "terminating": 0} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{hnc.AnnotationCreatorPending: pending}}}
		if pending == "terminating" { // so that the name may be another namespace's in a moment
			ns.DeletionTimestamp, ns.Annotations[hnc.AnnotationCreatorPending] = new(metav1.Now()), "s-c"
		}
		core := fake.NewClientset(ns)
		if pending == "vanished" { // which is no failure
			core = fake.NewClientset()
		}
		c := New(controller.Dependencies{
			Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: core, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
		}, Controllers{}, false)
		s := &tree.Subnamespace{Key: tree.Key{Parent: "p", Name: "c"}, UID: "s-c"}
		err := c.bindCreator(t.Context(), s, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "c", Name: "hns-creator-c"}})
		list, listErr := core.RbacV1().RoleBindings("c").List(t.Context(), metav1.ListOptions{})
		if listErr != nil || len(list.Items) != want || (err == nil) != (want == 1 || pending == "vanished") {
			t.Errorf("%q: got %d bindings and %v", pending, len(list.Items), err)
		}
	}
}

func TestSubjectsAreUsersOrServiceAccounts(t *testing.T) {
	user := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind}
	for name, want := range map[string]rbacv1.Subject{
		"jane":                          user,
		"system:serviceaccount:a:b":     {Kind: rbacv1.ServiceAccountKind, Namespace: "a", Name: "b"},
		"system:serviceaccount:strange": user,
	} {
		if want.Kind == rbacv1.UserKind {
			want.Name = name
		}
		if got := subject(name); got != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
