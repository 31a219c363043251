package view

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// What is created can be used at once: there is no retry here.
func TestNamespacesAreCreatedAndDeletedThroughAView(t *testing.T) {
	tn := newTenant(t, "days")
	api := tn.view.CoreV1().Namespaces()
	ns, err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "days-dev"}}, metav1.CreateOptions{FieldValidation: "Strict"})
	must(t, "create", err)
	if ns.Name != "days-dev" || ns.UID == "" || ns.Status.Phase != corev1.NamespaceActive {
		t.Errorf("created %+v", ns)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "first"}}
	_, err = tn.view.CoreV1().ConfigMaps("days-dev").Create(t.Context(), cm, metav1.CreateOptions{})
	must(t, "the first object", err)
	if _, err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "days-dev"}}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("again: %v", err)
	}
	if _, err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a foreign name: %v", err)
	}
	generated, err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "days-"}}, metav1.CreateOptions{})
	must(t, "generateName", err)
	if len(generated.Name) != len("days-12345") {
		t.Errorf("generated %q", generated.Name)
	}
	dry, err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "days-dry"}}, metav1.CreateOptions{DryRun: []string{"All"}})
	must(t, "dry run", err)
	if _, err := api.Get(t.Context(), dry.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after a dry run: %v", err)
	}
	other := types.UID("other")
	if err := api.Delete(t.Context(), "days-dev", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); !apierrors.IsConflict(err) {
		t.Errorf("delete with another UID: %v", err)
	}
	must(t, "delete", api.Delete(t.Context(), "days-dev", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &ns.UID}}))
	suite.Eventually(t, "deleted", func() error {
		if _, err := api.Get(t.Context(), "days-dev", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return apierrors.NewConflict(corev1.Resource("namespaces"), "days-dev", err)
		}
		return nil
	})
	if err := api.Delete(t.Context(), tn.root, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("delete the root: %v", err)
	}
	if err := api.Delete(t.Context(), people, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("delete a foreign one: %v", err)
	}
	if _, err := api.UpdateStatus(t.Context(), generated, metav1.UpdateOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("status: %v", err)
	}
}

func TestLabelsOfNamespacesAreThoseThatHierarchiesManage(t *testing.T) {
	tn := newTenant(t, "labels")
	config, err := admin.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), "config", metav1.GetOptions{})
	must(t, "configuration", err)
	config.Spec.Rules = &v1beta1.Rules{ManagedNamespaceLabels: []string{"team"}}
	_, err = admin.HNC.HncV1beta1().HNCConfigurations().Update(t.Context(), config, metav1.UpdateOptions{})
	must(t, "configuration", err)
	api := tn.view.CoreV1().Namespaces()
	var ns *corev1.Namespace
	suite.Eventually(t, "a managed label", func() error {
		ns, err = api.Apply(t.Context(), applycorev1.Namespace("labels-a").WithLabels(map[string]string{"team": "one"}), metav1.ApplyOptions{FieldManager: "test"})
		if err == nil && ns.Labels["team"] != "one" {
			_ = api.Delete(t.Context(), "labels-a", metav1.DeleteOptions{})
			return apierrors.NewTimeoutError("the rule is not in effect", 1)
		}
		return err
	})
	ns, err = api.Apply(t.Context(), applycorev1.Namespace("labels-a").WithLabels(map[string]string{"team": "two"}), metav1.ApplyOptions{FieldManager: "test"})
	must(t, "apply again", err)
	if ns.Labels["team"] != "two" {
		t.Errorf("got %v", ns.Labels)
	}
	for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
		ns, err = api.Patch(t.Context(), "labels-a", kind, []byte(`{"metadata":{"labels":{"team":"`+string(kind[12:17])+`"}}}`), metav1.PatchOptions{})
		must(t, "patch", err)
		if ns.Labels["team"] != string(kind[12:17]) {
			t.Errorf("%s: got %v", kind, ns.Labels)
		}
	}
	ns, err = api.Patch(t.Context(), "labels-a", types.JSONPatchType, []byte(`[{"op":"replace","path":"/metadata/labels/team","value":"three"}]`), metav1.PatchOptions{})
	must(t, "patch", err)
	ns.Labels["team"], ns.Labels["free"] = "four", "x"
	ns, err = api.Update(t.Context(), ns, metav1.UpdateOptions{})
	must(t, "update", err)
	if ns.Labels["free"] != "" || ns.Labels["team"] != "four" {
		t.Errorf("one of two labels is managed: %v", ns.Labels)
	}
	// Of clients that write what they have all read, one succeeds.
	errs := make([]error, 8)
	var group sync.WaitGroup
	for i := range errs {
		mine := ns.DeepCopy()
		mine.Labels["team"] = fmt.Sprint("client-", i)
		group.Go(func() { _, errs[i] = api.Update(t.Context(), mine, metav1.UpdateOptions{}) })
	}
	group.Wait()
	succeeded := 0
	for _, err := range errs {
		if err == nil {
			succeeded++
		} else if !apierrors.IsConflict(err) {
			t.Errorf("got %v", err)
		}
	}
	if succeeded != 1 {
		t.Errorf("%d of 8 updates of one version have succeeded", succeeded)
	}
	if _, err := api.Patch(t.Context(), "labels-a", types.MergePatchType, []byte(`{"metadata":{"name":"x"}}`), metav1.PatchOptions{}); err == nil || !strings.Contains(err.Error(), "modified") {
		t.Errorf("another name: %v", err)
	}
}

// A client that may update a namespace writes back what it has read, although the view shows only a part of it.
func TestWhatIsReadOfANamespaceCanBeWrittenBack(t *testing.T) {
	_, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "above-written"}}, metav1.CreateOptions{})
	must(t, "namespace", err)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "namespace-editor"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "update"}}}}
	_, err = admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	must(t, "role", err)
	tn := newUser(t, "written")
	whoami, err := tn.direct.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), selfReview, metav1.CreateOptions{})
	must(t, "whoami", err)
	bindAdminAs(t, tn.root, "editor", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: whoami.Status.UserInfo.Username}, role.Name)
	suite.Must(t, "move", func() error {
		hierarchy := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: "above-written"}}
		_, err := admin.HNC.HncV1beta1().Hierarchies(tn.root).Create(t.Context(), hierarchy, metav1.CreateOptions{})
		return err
	})
	suite.Eventually(t, "the labels of the ancestor", func() error {
		ns, err := admin.CoreV1().Namespaces().Get(t.Context(), tn.root, metav1.GetOptions{})
		if err == nil && ns.Labels[hnc.TreeLabel("above-written")] == "" {
			err = errors.New("not yet")
		}
		return err
	})
	suite.Eventually(t, "an update", func() error {
		ns, err := tn.view.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		must(t, "get", err)
		if ns.Labels["above-written.tree.hnc.x-k8s.io/depth"] != "" {
			t.Errorf("the view shows %v", ns.Labels)
		}
		metav1.SetMetaDataLabel(&ns.ObjectMeta, "written", "yes")
		_, err = tn.view.CoreV1().Namespaces().Update(t.Context(), ns, metav1.UpdateOptions{})
		return err
	})
	ns, err := admin.CoreV1().Namespaces().Get(t.Context(), tn.root, metav1.GetOptions{})
	if err != nil || ns.Labels["written"] != "yes" || ns.Labels[hnc.TreeLabel("above-written")] != "1" {
		t.Errorf("stored %v, %v", ns.Labels, err)
	}
}
