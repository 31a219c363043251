package copies

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client/clienttest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// rbacClient records the writes of copies. The Role that it reads is inherited from a namespace, "" for none.
type rbacClient struct {
	copies.Client
	inherited string
	// refused and refusedRoles are the errors of deletions of RoleBindings and Roles.
	refused, refusedRoles error
	// lost is the error that the creation of a copy returns.
	lost     error
	requests []string
	// created is called when a copy is created.
	created func()
	// deleted is called with the name of a RoleBinding that is deleted.
	deleted func(name string)
}

func (r *rbacClient) Create(_ context.Context, kind copies.Kind, namespace string, _ []byte) (copies.Written, error) {
	r.requests = append(r.requests, "create "+kind.Resource+" in "+namespace)
	if r.created != nil {
		r.created()
	}
	return copies.Written{UID: "role", ResourceVersion: "7"}, r.lost
}

func (r *rbacClient) Delete(_ context.Context, kind copies.Kind, namespace, name string, _ copies.Written) error {
	if kind == copies.RoleBindings && r.refused != nil {
		return r.refused
	}
	if kind == copies.Roles && r.refusedRoles != nil {
		return r.refusedRoles
	}
	r.requests = append(r.requests, "delete "+kind.Resource+" "+namespace+"/"+name)
	if kind == copies.RoleBindings && r.deleted != nil {
		r.deleted(name)
	}
	return nil
}

func (r *rbacClient) Read(_ context.Context, kind copies.Kind, _, name string) (copies.Written, string, error) {
	if r.inherited == "" {
		return copies.Written{}, "", apierrors.NewNotFound(kind.GroupResource(), name)
	}
	return copies.Written{}, r.inherited, nil
}

// roleFixture is a tree root > leaf with the Role ops in root, and a RoleBinding in leaf that refers to that name.
type roleFixture struct {
	*Controller
	client    *rbacClient
	hierarchy *fake.Clientset
	events    *record.FakeRecorder
	binding   *rbacv1.RoleBinding
	// records is the number of OverwrittenObjects.
	records int
}

func newRoleFixture(t *testing.T) *roleFixture {
	t.Helper()
	below := &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: hnc.Singleton, ResourceVersion: "1"}, Spec: v1beta1.HierarchySpec{Parent: "root"},
	}
	f := &roleFixture{Controller: newController(), client: &rbacClient{}, hierarchy: fake.NewClientset(below), events: record.NewFakeRecorder(10)}
	f.hierarchy.PrependReactor("*", "overwrittenobjects", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action := action.(type) {
		case clienttesting.CreateAction:
			f.records++
			return true, action.GetObject(), nil
		case clienttesting.DeleteAction:
			f.records--
			return true, nil, nil
		}
		return true, nil, apierrors.NewNotFound(hnc.Resource("overwrittenobjects"), "none")
	})
	f.Queue, f.Client, f.Hierarchy, f.Controller.events = added{}, f.client, f.hierarchy, eventRecorder{f.events}
	f.failures.events = f.Controller.events
	track(t, f.Controller, copies.Kinds...)
	for _, name := range []string{"root", "leaf"} {
		f.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}})
	}
	f.Cache.ObserveHierarchy(below)
	role, err := copies.NewObject(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": map[string]any{"namespace": "root", "name": "ops", "uid": "source", "resourceVersion": "1"},
	}}, &copies.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	f.binding = &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "waiting", UID: "b", ResourceVersion: "2"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "ops"},
	}
	f.Cache.Update(func(s *cache.State) {
		s.Kind(1).Index.Roles = s.Kind(0).Index
		s.Kind(0).Index.Set(role)
		s.Kind(1).Index.Set(copies.NewRoleBinding(f.binding, &copies.Rules{}))
	})
	return f
}

// live makes these the RoleBindings that the API server has.
func (f *roleFixture) live(t *testing.T, bindings ...*rbacv1.RoleBinding) {
	t.Helper()
	var typed, untyped []runtime.Object
	for _, b := range bindings {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetAPIVersion(rbacv1.SchemeGroupVersion.String())
		u.SetKind("RoleBinding")
		typed, untyped = append(typed, b), append(untyped, u)
	}
	f.Kubernetes = kubefake.NewClientset(typed...)
	f.Bindings = clienttest.Bindings{Interface: f.Kubernetes}
	f.backups = newBackups(f.hierarchy, dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), untyped...))
}

func (f *roleFixture) forget() {
	f.Cache.Update(func(s *cache.State) { s.Kind(1).Index.Delete("leaf", "waiting", "b") })
}

func (f *roleFixture) write(t *testing.T, kind int, name string) error {
	t.Helper()
	var w *copies.Write
	f.Cache.Read(func(s *cache.State) { w = decide(s, kind, "leaf", name) })
	if w == nil {
		t.Fatalf("there is nothing to write for %s", name)
	}
	return f.Controller.write(t.Context(), f.slots, kind, *w)
}

func TestARoleIsWrittenAfterTheRoleBindingsThatReferToAnotherOneAreRemoved(t *testing.T) {
	f := newRoleFixture(t)
	f.binding.ResourceVersion = "3" // Its owner keeps changing it.
	f.live(t, f.binding)
	if err := f.write(t, 0, "ops"); !errors.Is(err, outcome.ErrPaced) || len(f.client.requests) > 0 {
		t.Fatalf("before: got %v, and %q", err, f.client.requests)
	}
	if err := f.write(t, 1, "waiting"); err != nil {
		t.Fatal(err)
	}
	if f.records != 1 || len(f.events.Events) != 2 {
		t.Errorf("%d records, %d events", f.records, len(f.events.Events))
	}
	// A finalizer may keep it: only the watch says that it is gone.
	if err := f.write(t, 0, "ops"); !errors.Is(err, outcome.ErrPaced) {
		t.Fatalf("the watch has not confirmed the removal: got %v", err)
	}
	f.forget()
	f.live(t)
	if err := f.write(t, 0, "ops"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"delete rolebindings leaf/waiting", "create roles in leaf"}; !slices.Equal(f.client.requests, want) {
		t.Errorf("got %q", f.client.requests)
	}
}

// A RoleBinding of its name from above awaits the Role, which awaits its end.
func TestAnInvalidRoleBindingOfANameFromAboveIsRemoved(t *testing.T) {
	f := newRoleFixture(t)
	above := f.binding.DeepCopy()
	above.Namespace, above.UID = "root", "above"
	f.Cache.Update(func(s *cache.State) { s.Kind(1).Index.Set(copies.NewRoleBinding(above, &copies.Rules{})) })
	f.live(t, f.binding)
	if err := f.write(t, 1, "waiting"); err != nil || !slices.Equal(f.client.requests, []string{"delete rolebindings leaf/waiting"}) || f.records != 1 {
		t.Errorf("got %v, %q, %d records", err, f.client.requests, f.records)
	}
}

// The cache of Roles may be older than that of RoleBindings.
func TestARoleBindingToAnInheritedRoleIsNotRemoved(t *testing.T) {
	f := newRoleFixture(t)
	f.client.inherited = "root"
	f.live(t, f.binding)
	if err := f.write(t, 1, "waiting"); !errors.Is(err, outcome.ErrStale) || len(f.client.requests) > 0 || f.records > 0 {
		t.Errorf("got %v, %q, %d records", err, f.client.requests, f.records)
	}
}

func TestARoleAwaitsTheListOfRoleBindings(t *testing.T) {
	f := newRoleFixture(t)
	f.forget()
	f.Cache.Update(func(s *cache.State) { s.Kind(1).Synced = false })
	if err := f.write(t, 0, "ops"); !errors.Is(err, outcome.ErrPaced) || len(f.client.requests) > 0 {
		t.Errorf("got %v, and %q", err, f.client.requests)
	}
}

// A tenant may create RoleBindings until the Role is there.
func TestNewerRoleBindingsAreRemovedOrTheRoleIsWithdrawn(t *testing.T) {
	created, deleted, withdrawn := "create roles in leaf", "delete rolebindings leaf/waiting", "delete roles leaf/ops"
	denied := apierrors.NewForbidden(copies.RoleBindings.GroupResource(), "waiting", errors.New("denied by a policy"))
	for name, row := range map[string]struct {
		refused    error
		finalizers []string
		kind       string
		want       []string
		records    int
	}{
		"it is removed":              {kind: "Role", want: []string{created, deleted}, records: 1},
		"that is refused":            {kind: "Role", refused: denied, want: []string{created, withdrawn}},
		"a finalizer keeps it":       {kind: "Role", finalizers: []string{"example.com/held"}, want: []string{created, deleted, withdrawn}},
		"it refers to a ClusterRole": {kind: "ClusterRole", want: []string{created}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRoleFixture(t)
			f.forget()
			f.Cache.Update(func(s *cache.State) { // The namespace has another one.
				s.Kind(1).Index.Set(copies.NewRoleBinding(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "other", UID: "o", ResourceVersion: "1"}}, &copies.Rules{}))
			})
			f.client.refused, f.binding.Finalizers, f.binding.RoleRef.Kind = row.refused, row.finalizers, row.kind
			f.live(t, f.binding)
			f.client.deleted = func(name string) {
				if err := f.Kubernetes.RbacV1().RoleBindings("leaf").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
			err := f.write(t, 0, "ops")
			if (err == nil) != (row.want[len(row.want)-1] != withdrawn) {
				t.Errorf("got %v", err)
			}
			if !slices.Equal(f.client.requests, row.want) || f.records != row.records {
				t.Errorf("got %q, %d records", f.client.requests, f.records)
			}
		})
	}
}

// Whoever has the permissions of the Role for a moment may create another RoleBinding.
func TestARoleIsWithdrawnIfRoleBindingsAreCreatedAllTheTime(t *testing.T) {
	f := newRoleFixture(t)
	f.forget()
	f.Cache.Update(func(s *cache.State) {
		s.Kind(1).Index.Set(copies.NewRoleBinding(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "other", UID: "o", ResourceVersion: "1"}}, &copies.Rules{}))
	})
	f.live(t, f.binding)
	if err := f.write(t, 0, "ops"); err == nil || f.client.requests[len(f.client.requests)-1] != "delete roles leaf/ops" {
		t.Errorf("got %v, %q", err, f.client.requests)
	}
}

// New sub-namespaces have neither Roles nor RoleBindings, and users wait for them.
func TestAnEmptyNamespaceIsNotReadForItsRoles(t *testing.T) {
	f := newRoleFixture(t)
	f.forget()
	f.live(t)
	if err := f.write(t, 0, "ops"); err != nil {
		t.Fatal(err)
	}
	if actions := f.Kubernetes.(*kubefake.Clientset).Actions(); len(actions) > 0 {
		t.Errorf("got %v", actions)
	}
}

// A policy of the cluster may keep it for ever.
func TestARoleBindingThatCannotBeRemovedIsReported(t *testing.T) {
	f := newRoleFixture(t)
	f.live(t, f.binding)
	f.client.refused = apierrors.NewForbidden(copies.RoleBindings.GroupResource(), "waiting", errors.New("denied by a policy"))
	if err := f.write(t, 1, "waiting"); !errors.Is(err, f.client.refused) || f.records > 0 {
		t.Errorf("got %v, %d records", err, f.records)
	}
	if !f.failures.has(1, "leaf", "waiting") || len(f.events.Events) != 2 {
		t.Errorf("%d events", len(f.events.Events))
	}
}

// Requests may fail without an answer of the server, and nobody but its owner can remove it.
func TestARoleBindingThatNoRequestCanNameIsReported(t *testing.T) {
	f := newRoleFixture(t)
	f.forget()
	f.binding.Name = strings.Repeat("L", 400_000)
	f.Cache.Update(func(s *cache.State) { s.Kind(1).Index.Set(copies.NewRoleBinding(f.binding, &copies.Rules{})) })
	f.client.refused = errors.New("the request is too large")
	dynamic := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	dynamic.PrependReactor("get", "rolebindings", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, f.client.refused })
	f.backups = newBackups(f.hierarchy, dynamic)
	if err := f.write(t, 1, f.binding.Name); !errors.Is(err, f.client.refused) {
		t.Errorf("got %v", err)
	}
	if !f.failures.has(1, "leaf", f.binding.Name) || len(f.events.Events) != 2 {
		t.Errorf("%d events", len(f.events.Events))
	}
}

// A request to the registry of records cannot name it, and its owner would keep the Role out.
func TestARoleBindingWhoseNameFitsIntoNoRecordIsRemoved(t *testing.T) {
	for _, length := range []int{254, 3000, 300_000} {
		f := newRoleFixture(t)
		f.forget()
		f.binding.Name = strings.Repeat("L", length)
		f.Cache.Update(func(s *cache.State) { s.Kind(1).Index.Set(copies.NewRoleBinding(f.binding, &copies.Rules{})) })
		f.live(t, f.binding)
		f.hierarchy.PrependReactor("get", "overwrittenobjects", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewBadRequest("the path of the URL has 3111 bytes, and may have 2048")
		})
		if err := f.write(t, 1, f.binding.Name); err != nil || !slices.Equal(f.client.requests, []string{"delete rolebindings leaf/" + f.binding.Name}) || f.records > 0 {
			t.Fatalf("a name of %d bytes: got %v, %d requests, %d records", length, err, len(f.client.requests), f.records)
		}
		if event := <-f.events.Events; !strings.Contains(event, "its content could not be kept: names of more than 253 bytes") {
			t.Errorf("got the event %s", event)
		}
	}
}

func TestTheCopyOfARoleBindingDoesNotAwaitTheRoleThatAwaitsIt(t *testing.T) {
	f := newRoleFixture(t)
	f.forget()
	binding := func(namespace, from string, kind string) *copies.Object {
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": map[string]any{"namespace": namespace, "name": "b", "uid": namespace, "resourceVersion": "2"},
			"roleRef": map[string]any{"apiGroup": rbacv1.GroupName, "kind": kind, "name": "ops"},
		}}
		if from != "" {
			u.SetLabels(map[string]string{hnc.LabelInheritedFrom: from})
		}
		o, err := copies.NewObject(u, &copies.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for kind, want := range map[string]int{"Role": 1, "ClusterRole": 0} {
		f.client.requests = nil
		f.Cache.Update(func(s *cache.State) {
			s.Kind(1).Index = copies.NewIndex(copies.RoleBindings)
			s.Kind(1).Index.Roles = s.Kind(0).Index
			s.Kind(1).Index.Set(binding("root", "", "Role"))
			s.Kind(1).Index.Set(binding("leaf", "other", kind))
		})
		if err := f.write(t, 1, "b"); err != nil || len(f.client.requests) != want {
			t.Errorf("a copy that refers to a %s: got %v, %q", kind, err, f.client.requests)
		}
	}
}

func TestARoleEnqueuesTheRoleBindingsThatItInvalidates(t *testing.T) {
	f, enqueued := newRoleFixture(t), added{}
	f.Queue = enqueued
	f.syncSource(queue.Key{Class: queue.Source, Kind: 0, Namespace: "root", Name: "ops"})
	if want := (queue.Key{Class: queue.Copy, Kind: 1, Namespace: "leaf", Name: "waiting"}); !enqueued[want] {
		t.Errorf("enqueued are %v", enqueued)
	}
}
