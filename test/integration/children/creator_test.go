package children

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func subnamespaceOf(name string) *v1beta1.Subnamespace {
	return &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// creatorRole sets the role, as the user.
func (u user) creatorRole(t *testing.T, role string) error {
	t.Helper()
	_, err := u.HNC.HncV1beta1().HNCConfigurations().Patch(t.Context(), hnc.ConfigurationName, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"creatorRole":%q}}`, role), metav1.PatchOptions{})
	return err
}

// withCreatorRole sets the role for one test, and returns when sub-namespaces are created with it.
func withCreatorRole(t *testing.T, role string) {
	t.Helper()
	if err := root.creatorRole(t, role); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := root.HNC.HncV1beta1().HNCConfigurations().Patch(context.WithoutCancel(t.Context()), hnc.ConfigurationName, types.MergePatchType,
			[]byte(`{"spec":{"creatorRole":""}}`), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	})
	probe := "probe-" + strings.ToLower(t.Name())
	namespaces(t, probe)
	n := 0
	suite.Eventually(t, "the propagator knows of the role", func() error {
		n++
		name := fmt.Sprintf("%s-%d", probe, n)
		if _, err := root.subnamespace(t, probe, name); err != nil {
			return err
		}
		_, err := root.RbacV1().RoleBindings(name).Get(t.Context(), "hns-creator-"+name, metav1.GetOptions{})
		return err
	})
}

func TestWhoCreatesASubnamespaceGetsTheRole(t *testing.T) {
	namespaces(t, "made")
	jane := newUser(t, "jane-made")
	jane.grant(t, "made", "create,get,patch,update hnc.x-k8s.io/subnamespaces")
	withCreatorRole(t, "admin")

	if _, err := jane.subnamespace(t, "made", "made-by-jane"); err != nil {
		t.Fatal(err)
	}
	// The binding is there when the call returns; kube-apiserver hears of it in a moment.
	binding, err := root.RbacV1().RoleBindings("made-by-jane").Get(t.Context(), "hns-creator-made-by-jane", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := binding.Subjects; len(s) != 1 || s[0].Kind != rbacv1.UserKind || s[0].Name != "jane-made" || binding.RoleRef.Name != "admin" {
		t.Errorf("got %+v", binding)
	}
	jane.eventuallyMay(t, "create", "", "configmaps", "made-by-jane", "")
	if jane.may(t, "create", "", "configmaps", "made", "") {
		t.Error("jane got the role in the parent, too")
	}
	eventuallyWithoutNote(t, "made-by-jane")

	t.Run("it goes on to what is below, beside its creator's", func(t *testing.T) {
		joe := newUser(t, "joe-made")
		joe.grant(t, "made-by-jane", "create hnc.x-k8s.io/subnamespaceanchors")
		anchor := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "hnc.x-k8s.io/v1alpha2", "kind": "SubnamespaceAnchor", "metadata": map[string]any{"name": "made-by-joe"}}}
		if _, err := joe.Dynamic.Resource(v1alpha2.SchemeGroupVersion.WithResource("subnamespaceanchors")).Namespace("made-by-jane").
			Create(t.Context(), anchor, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, u := range []user{jane, joe} {
			u.eventuallyMay(t, "create", "", "configmaps", "made-by-joe", "")
		}
		if joe.may(t, "create", "", "configmaps", "made-by-jane", "") {
			t.Error("joe got the role in the parent, too")
		}
	})

	t.Run("to a ServiceAccount as such", func(t *testing.T) {
		if _, err := root.CoreV1().ServiceAccounts("made").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		config, _, err := cp.ServiceAccount(t.Context(), "made", "robot")
		if err != nil {
			t.Fatal(err)
		}
		robot, err := clients("system:serviceaccount:made:robot", config)
		if err != nil {
			t.Fatal(err)
		}
		robot.bind(t, "made", "edit")
		robot.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", "made", "")
		if _, err := robot.subnamespace(t, "made", "made-by-robot"); err != nil {
			t.Fatal(err)
		}
		binding, err := root.RbacV1().RoleBindings("made-by-robot").Get(t.Context(), "hns-creator-made-by-robot", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s := binding.Subjects[0]; s.Kind != rbacv1.ServiceAccountKind || s.Namespace != "made" || s.Name != "robot" {
			t.Errorf("got %+v", binding.Subjects)
		}
	})

	t.Run("once: who takes it away has done so for good", func(t *testing.T) {
		if err := root.RbacV1().RoleBindings("made-by-jane").Delete(t.Context(), binding.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		stopped(t, func() {})
		if _, err := jane.HNC.HncV1beta1().Subnamespaces("made").Patch(t.Context(), "made-by-jane", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		// What is asked for later is done later.
		if _, err := jane.subnamespace(t, "made", "made-later"); err != nil {
			t.Fatal(err)
		}
		if _, err := root.RbacV1().RoleBindings("made-later").Get(t.Context(), "hns-creator-made-later", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := root.RbacV1().RoleBindings("made-by-jane").Get(t.Context(), binding.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})

	t.Run("who claims a namespace that was there before gets nothing", func(t *testing.T) {
		orphan := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "made-before", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "made"}}}
		if _, err := root.CoreV1().Namespaces().Create(t.Context(), orphan, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		// An annotation sets no parent, so the namespace is a root: it takes admins of both to put it below another.
		jane.admin(t, "made", "made-before")
		if _, err := jane.subnamespace(t, "made", "made-before"); err != nil {
			t.Fatal(err)
		}
		eventuallyReady(t, "made", "made-before")
		list, err := root.RbacV1().RoleBindings("made-before").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list.Items {
			if strings.HasPrefix(b.Name, "hns-creator") {
				t.Errorf("got %s", b.Name)
			}
		}
	})
}

// The propagator ended after it had created the namespace, and before it could bind anybody.
func TestACrashDoesNotLoseTheCreator(t *testing.T) {
	namespaces(t, "crash")
	jane := newUser(t, "jane-crash")
	jane.grant(t, "crash", "create hnc.x-k8s.io/subnamespaces")
	withCreatorRole(t, "edit")
	created := make(chan error, 1)
	stopped(t, func() {
		// The answer waits until the namespace can be used.
		go func() {
			_, err := jane.HNC.HncV1beta1().Subnamespaces("crash").Create(t.Context(), subnamespaceOf("crashed"), metav1.CreateOptions{})
			created <- err
		}()
		var s *v1beta1.Subnamespace
		suite.Eventually(t, "the Subnamespace is stored", func() (err error) {
			s, err = root.HNC.HncV1beta1().Subnamespaces("crash").Get(t.Context(), "crashed", metav1.GetOptions{})
			return err
		})
		if _, err := root.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "crashed", Annotations: map[string]string{
			hnc.AnnotationSubnamespaceOf: "crash", hnc.AnnotationCreatorPending: string(s.UID),
		}}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	eventuallyReady(t, "crash", "crashed")
	if err := <-created; err != nil {
		t.Error(err)
	}
	if _, err := root.RbacV1().RoleBindings("crashed").Get(t.Context(), "hns-creator-crashed", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	eventuallyWithoutNote(t, "crashed")
}

// eventuallyWithoutNote waits until a namespace does not say that its creator's role is pending. That is removed along with
// the report that it is ready.
func eventuallyWithoutNote(t *testing.T, name string) {
	t.Helper()
	suite.EventuallyEqual(t, "the note in "+name, "", func() string {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return ns.Annotations[hnc.AnnotationCreatorPending]
	})
}

func TestOnlyWhoMayBindTheRoleNamesIt(t *testing.T) {
	u := newUser(t, "configurator")
	u.grant(t, "", "get,patch,update hnc.x-k8s.io/hncconfigurations")
	says := []string{"spec.creatorRole", `"configurator"`, `"view"`, "verb bind on clusterroles"}
	refused(t, "who may not bind it", u.creatorRole(t, "view"), apierrors.IsForbidden, says...)

	binder := newUser(t, "binder")
	binder.grant(t, "", "get,patch,update hnc.x-k8s.io/hncconfigurations", "bind rbac.authorization.k8s.io/clusterroles view")
	refused(t, "another role", binder.creatorRole(t, "edit"), apierrors.IsForbidden, `"edit"`)
	if err := binder.creatorRole(t, "view"); err != nil {
		t.Fatal(err)
	}
	// Who leaves it as it is, or takes it away, needs nothing.
	if _, err := u.HNC.HncV1beta1().HNCConfigurations().Patch(t.Context(), hnc.ConfigurationName, types.MergePatchType,
		[]byte(`{"spec":{"resources":[{"resource":"limitranges","mode":"Ignore"}]}}`), metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	if err := u.creatorRole(t, ""); err != nil {
		t.Error(err)
	}
	refused(t, "no name of a role", root.creatorRole(t, "a/b"), apierrors.IsInvalid, "spec.creatorRole", "must be the name of a ClusterRole")
}
