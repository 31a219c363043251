package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// An editor of one member of a view does not get what is written to another one.
func TestNobodyTakesOverANameInAView(t *testing.T) {
	tn := newUser(t, "vault")
	child(t, "payments", tn.root)
	child(t, "vault-lab", tn.root)
	config, err := cp.User("mallory", "developers")
	must(t, "certificate", err)
	mallory, err := suite.NewUser("mallory", config)
	must(t, "clients", err)
	bindAdminAs(t, "vault-lab", "mallory", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "mallory"}, "edit")
	suite.Must(t, "mallory may create sub-namespaces", func() error {
		_, err := mallory.HNC.HncV1beta1().Subnamespaces("vault-lab").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "vault-free"}}, metav1.CreateOptions{})
		return err
	})
	for who, u := range map[string]suite.User{"an editor of a member": mallory, "the tenant": tn.direct} {
		_, err := u.HNC.HncV1beta1().Subnamespaces("vault-lab").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "vault-payments"}}, metav1.CreateOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `in the TenantView of namespace "vault"`) || !strings.Contains(err.Error(), "choose another name") {
			t.Errorf("%s: got %v", who, err)
		}
	}
	// For those who may do it, the namespace that was first keeps the name.
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	across, err := tn.view.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{})
	must(t, "watch", err)
	defer across.Stop()
	child(t, "vault-payments", "vault-lab")
	expired(t, across)
	configMap(t, tn.view, "payments", "mine")
	if _, err := admin.CoreV1().ConfigMaps("payments").Get(t.Context(), "mine", metav1.GetOptions{}); err != nil {
		t.Errorf("what is written to payments: %v", err)
	}
	suite.Eventually(t, "the status names the later one", func() error {
		v, err := admin.HNC.HncV1alpha3().TenantViews(tn.root).Get(t.Context(), hnc.TenantViewSingleton, metav1.GetOptions{})
		if err == nil && !slices.Equal(v.Status.Shadowed, []string{"vault-payments"}) {
			err = fmt.Errorf("shadowed: %v", v.Status.Shadowed)
		}
		return err
	})
	configMap(t, admin, "vault-payments", "hidden")
	list, err := tn.view.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	must(t, "list", err)
	for _, ns := range list.Items {
		if strings.Contains(ns.Name, ".external") {
			t.Errorf("namespace %s is shown", ns.Name)
		}
	}
	maps, err := tn.view.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	must(t, "list", err)
	for _, cm := range maps.Items {
		if cm.Name == "hidden" || strings.Contains(cm.Namespace, ".external") {
			t.Errorf("%s/%s is shown", cm.Namespace, cm.Name)
		}
	}
	if out := tn.run(t, "", "get", "configmaps,namespaces", "-A"); strings.Contains(out, "hidden") || strings.Contains(out, ".external") {
		t.Errorf("kubectl shows\n%s", out)
	}
	// The name is free when the first one is gone.
	across, err = tn.view.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{})
	must(t, "watch", err)
	defer across.Stop()
	must(t, "delete", admin.HNC.HncV1beta1().Subnamespaces(tn.root).Delete(t.Context(), "payments", metav1.DeleteOptions{}))
	expired(t, across)
	suite.Eventually(t, "the other one is shown", func() error {
		_, err := tn.view.CoreV1().ConfigMaps("payments").Get(t.Context(), "hidden", metav1.GetOptions{})
		return err
	})
}

// expired reads a watch until it ends so that its client lists again.
func expired(t *testing.T, w watch.Interface) {
	t.Helper()
	last := errors.New("no event")
	for event := range w.ResultChan() {
		if last = apierrors.FromObject(event.Object); event.Type == watch.Error {
			break
		}
	}
	if !apierrors.IsResourceExpired(last) {
		t.Errorf("a watch across the view ends with %v", last)
	}
}
