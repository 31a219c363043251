package viewdefinition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// removals is a plan that removes a number of CustomResourceDefinitions.
func removals(n int) plan {
	p := plan{suffix: suffix}
	for i := range n {
		name := fmt.Sprintf("w%d.x.io", i)
		v := &v1alpha3.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "acme", DeletionTimestamp: &metav1.Time{}}}
		p.steps = append(p.steps, step{action: remove, definition: v, name: name + "." + suffix, crd: &cache.ViewCRD{Name: name + "." + suffix}})
	}
	return p
}

// newController returns a controller whose deletions of CustomResourceDefinitions end with an error, and counts them.
func newController(p plan, err error) (c *Controller, hierarchy *hncfake.Clientset, deleted *int) {
	deleted = new(int)
	crds := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	crds.PrependReactor("delete", "*", func(clientgotesting.Action) (bool, runtime.Object, error) {
		*deleted++
		return true, nil, err
	})
	hierarchy = hncfake.NewSimpleClientset()
	for _, s := range p.steps {
		_ = hierarchy.Tracker().Create(v1alpha3.SchemeGroupVersion.WithResource("viewdefinitions"), s.definition, "acme")
	}
	return New(controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Hierarchy: hierarchy, Dynamic: crds, Queue: queue.New(nil, nil),
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}), hierarchy, deleted
}

// Deletions cost kube-apiserver as much as writes. A tenant who deletes everything does not get another burst.
func TestRemovalsAreLimitedWithWrites(t *testing.T) {
	p := removals(3 * burst)
	c, _, deleted := newController(p, nil)
	if err := errors.Join(c.carryOutAll(t.Context(), key("acme"), p)...); err != nil {
		t.Fatal(err)
	}
	if *deleted != burst/2 {
		t.Errorf("%d of a tree are deleted at once", *deleted)
	}
	c.carryOutAll(t.Context(), key("acme"), plan{}) // It has none any more.
	if c.carryOutAll(t.Context(), key("acme"), removals(burst)); *deleted > burst/2+1 {
		t.Errorf("%d are deleted after that", *deleted-burst/2)
	}
	if c.carryOutAll(t.Context(), key("other"), removals(1)); *deleted < burst/2+1 {
		t.Error("another tree has no share")
	}
}

// A removal that is rejected is reported, and tried again later: the namespace is not deleted, and somebody must know
// why.
func TestARejectedRemovalIsReported(t *testing.T) {
	p := removals(1)
	c, hierarchy, _ := newController(p, apierrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, "w", errors.New("not allowed"+strings.Repeat(" w.x.io."+suffix, 10000))))
	if err := errors.Join(c.carryOutAll(t.Context(), key("acme"), p)...); err != nil {
		t.Fatal(err)
	}
	v, err := hierarchy.HncV1alpha3().ViewDefinitions("acme").Get(t.Context(), p.steps[0].definition.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ready := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady); ready == nil || ready.Reason != hnc.ReasonDefinitionRefused || !strings.Contains(ready.Message, "not allowed") || strings.Contains(ready.Message, ".acme") || len(ready.Message) > names.MaxText {
		t.Errorf("got %.3000v", ready)
	}
}

// A user may have left a group since, so that what only the group may do is bound to the group.
func TestWhoUsesCustomResources(t *testing.T) {
	const account = "system:serviceaccount:acme:operator"
	for _, test := range []struct {
		what    string
		creator string
		groups  string
		allowed []string
		want    string
	}{
		{"by a binding to the user", "ann", `["devs"]`, []string{"ann", "devs"}, "User ann"},
		{"by a group", "ann", `["devs","ops","others"]`, []string{"devs", "ops"}, "Group devs, Group ops"},
		{"by a group of the system", "ann", `["system:masters"]`, []string{"system:masters"}, ""},
		{"by the groups of a ServiceAccount", account, `["system:serviceaccounts","system:serviceaccounts:acme"]`, []string{"system:serviceaccounts:acme"}, "User " + account},
		{"by being authenticated", "ann", "", []string{"system:authenticated"}, "User ann"},
		{"not any more", "ann", `["devs"]`, nil, ""},
		{"by nobody", "", `["devs"]`, []string{"devs"}, ""},
	} {
		kubernetes := fake.NewClientset()
		kubernetes.PrependReactor("create", "subjectaccessreviews", func(a clientgotesting.Action) (bool, runtime.Object, error) {
			review := a.(clientgotesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
			review.Status.Allowed = slices.ContainsFunc(test.allowed, func(name string) bool {
				return name == review.Spec.User || slices.Contains(review.Spec.Groups, name)
			})
			return true, review, nil
		})
		c := New(controller.Dependencies{Kubernetes: kubernetes})
		v := &v1alpha3.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{hnc.AnnotationRequester: test.creator, hnc.AnnotationRequesterGroups: test.groups}}}
		subjects, err := c.creators(t.Context(), "acme", []*v1alpha3.ViewDefinition{v, v})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range subjects {
			got = append(got, s.Kind+" "+s.Name)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %v, want %s", test.what, got, test.want)
		}
	}
}

// In a namespace that is halted, or excluded, nobody gets permissions, but those who may no longer create
// ViewDefinitions lose theirs.
func TestPermissionsAreWithdrawnWhileNoneAreGranted(t *testing.T) {
	name := hnc.ViewRoleName("acme", hnc.CustomResources)
	user := func(name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
	}
	kubernetes := fake.NewClientset(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: name}, // A tenant has removed the label.
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{user("ann"), user("bob")},
	})
	kubernetes.PrependReactor("create", "subjectaccessreviews", func(a clientgotesting.Action) (bool, runtime.Object, error) {
		review := a.(clientgotesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		review.Status.Allowed = review.Spec.User != "ann"
		return true, review, nil
	})
	c := New(controller.Dependencies{Kubernetes: kubernetes, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false)})
	var steps []step
	for _, creator := range []string{"ann", "bob", "carol"} {
		v := &v1alpha3.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{hnc.AnnotationRequester: creator}}}
		steps = append(steps, step{definition: v, name: "widgets.x.io." + suffix, crd: &cache.ViewCRD{Group: "x.io." + suffix}})
	}
	if err := c.grant(t.Context(), "acme", steps, false); err != nil {
		t.Fatal(err)
	}
	binding, err := kubernetes.RbacV1().RoleBindings("acme").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || !slices.Equal(binding.Subjects, []rbacv1.Subject{user("bob")}) {
		t.Errorf("got %v, %v", binding, err)
	}
	for _, a := range kubernetes.Actions() {
		if a.GetResource().Resource == "roles" {
			t.Errorf("got %v", a)
		}
	}
}

// Revoking and withdrawing happen each time that a ViewDefinition is reconciled: where nothing is to be written,
// nothing is counted.
func TestWhatIsNotWrittenIsNotCounted(t *testing.T) {
	name := hnc.ViewRoleName("acme", hnc.CustomResources)
	foreign := metav1.ObjectMeta{Namespace: "acme", Name: name}
	own := metav1.ObjectMeta{Namespace: "acme", Name: name, Labels: map[string]string{hnc.LabelViewRoot: "acme"}}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}
	objects := func(meta metav1.ObjectMeta, ref rbacv1.RoleRef) []runtime.Object {
		return []runtime.Object{&rbacv1.Role{ObjectMeta: meta}, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{{Name: "ann"}}}}
	}
	for what, test := range map[string]struct {
		stored           []runtime.Object
		updates, deletes int
	}{
		"missing":            {nil, 0, 0},
		"made by others":     {objects(foreign, rbacv1.RoleRef{Name: "other"}), 0, 0},
		"made for this view": {objects(own, ref), 1, 2},
	} {
		registry := componentmetrics.NewKubeRegistry()
		written := func() (n int) {
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, family := range families {
				if strings.HasSuffix(family.GetName(), "_writes_total") {
					for _, m := range family.GetMetric() {
						n += int(m.GetCounter().GetValue())
					}
				}
			}
			return n
		}
		c := New(controller.Dependencies{Kubernetes: fake.NewClientset(test.stored...), Metrics: metrics.New(registry.MustRegister, false)})
		if err := c.withdraw(t.Context(), "acme", &rbacv1.RoleBinding{ObjectMeta: own, RoleRef: ref}); err != nil || written() != test.updates {
			t.Errorf("%s: %d writes are counted, want %d, when subjects are withdrawn: %v", what, written(), test.updates, err)
		}
		if err := c.revoke(t.Context(), "acme", name); err != nil || written() != test.updates+test.deletes {
			t.Errorf("%s: %d writes are counted, want %d, after everything is revoked: %v", what, written(), test.updates+test.deletes, err)
		}
	}
}
