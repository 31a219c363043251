package children

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const outageRoot, outageChild, outageSub = "outage", "outage-child", "outage-sub"

// What docs/operations.md says of an outage of hns-apiserver. Figures are logged.
func TestWhatWorksWhileTheServerIsDown(t *testing.T) {
	namespaces(t, outageRoot, outageChild)
	if err := root.hierarchy(t, outageChild, below(outageRoot)); err != nil {
		t.Fatal(err)
	}
	if _, err := root.subnamespace(t, outageRoot, outageSub); err != nil {
		t.Fatal(err)
	}
	eventuallyReady(t, outageRoot, outageSub)
	bind := func(name string) {
		t.Helper()
		if _, err := root.RbacV1().RoleBindings(outageRoot).Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "the copy of "+name, func() error {
			_, err := root.RbacV1().RoleBindings(outageChild).Get(t.Context(), name, metav1.GetOptions{})
			return err
		})
	}
	bind("before")
	tenant := newUser(t, "outage-admin")
	tenant.admin(t, outageRoot, outageChild, outageSub)
	tenant.grant(t, "", "get,update,patch,delete,create /namespaces")
	create := func(name string) (time.Duration, error) {
		begin := time.Now()
		_, err := tenant.CoreV1().ConfigMaps(outageChild).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return time.Since(begin), err
	}
	usual, err := create("usual")
	if err != nil {
		t.Fatal(err)
	}

	if err := cp.Kill(t.Context(), apiServer.Name); err != nil {
		t.Fatal(err)
	}
	back := func() {
		if _, err := cp.StartServer(context.WithoutCancel(t.Context()), installation, apiServer); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(back)

	t.Run("other requests work", func(t *testing.T) {
		took, err := create("during")
		if err != nil {
			t.Error(err)
		}
		t.Logf("a ConfigMap was created in %s, before in %s", took, usual)
		list, err := tenant.CoreV1().Namespaces().Get(t.Context(), outageSub, metav1.GetOptions{})
		if err != nil || list.Labels[outageRoot+hnc.LabelTreeSuffix] != "1" {
			t.Errorf("tree labels: %v, %v", list.Labels, err)
		}
	})
	t.Run("requests for hierarchies are answered with 503", func(t *testing.T) {
		for what, request := range map[string]func() error{
			"a read": func() error {
				return tenant.HNC.HncV1beta1().RESTClient().Get().Namespace(outageChild).Resource("hierarchies").Name(hnc.Singleton).MaxRetries(0).Do(t.Context()).Error()
			},
			"a sub-namespace": func() error {
				s := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "outage-new"}}
				return tenant.HNC.HncV1beta1().RESTClient().Post().Namespace(outageRoot).Resource("subnamespaces").Body(s).MaxRetries(0).Do(t.Context()).Error()
			},
			"a list across a subtree": func() error {
				return root.CoreV1().RESTClient().Get().AbsPath("/apis/resources.hnc.x-k8s.io/v1alpha2/namespaces", outageRoot, "configmaps").MaxRetries(0).Do(t.Context()).Error()
			},
		} {
			begin := time.Now()
			if err := request(); !apierrors.IsServiceUnavailable(err) {
				t.Errorf("%s: %v", what, err)
			}
			t.Logf("%s got 503 after %s", what, time.Since(begin).Round(time.Millisecond))
		}
	})
	t.Run("copies, tree labels and sub-namespaces are protected", func(t *testing.T) {
		err := tenant.RbacV1().RoleBindings(outageChild).Delete(t.Context(), "before", metav1.DeleteOptions{})
		refused(t, "deleting a copy", err, apierrors.IsForbidden, outageRoot)
		label := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"0"}}}`, outageRoot+hnc.LabelTreeSuffix)
		_, err = tenant.CoreV1().Namespaces().Patch(t.Context(), outageChild, types.MergePatchType, label, metav1.PatchOptions{})
		refused(t, "changing a tree label", err, apierrors.IsForbidden)
		err = tenant.CoreV1().Namespaces().Delete(t.Context(), outageSub, metav1.DeleteOptions{})
		refused(t, "deleting the namespace of a sub-namespace", err, apierrors.IsForbidden)
	})
	t.Run("sources are propagated in existing trees", func(*testing.T) { bind("during") })

	if err := root.CoreV1().Namespaces().Delete(t.Context(), outageChild, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the namespace says what it waits for", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), outageChild, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range ns.Status.Conditions {
			if c.Type == corev1.NamespaceDeletionDiscoveryFailure && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("got %v", ns.Status.Conditions)
	})
	begin := time.Now()
	back()
	suite.Eventually(t, "the namespace is gone", func() error {
		_, err := root.CoreV1().Namespaces().Get(t.Context(), outageChild, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
	t.Logf("a namespace was gone %s after the server was started", time.Since(begin).Round(100*time.Millisecond))
	if _, err := root.HNC.HncV1beta1().Hierarchies(outageSub).Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); err != nil {
		t.Errorf("the hierarchy of %s: %v", outageSub, err)
	}
}
