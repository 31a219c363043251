// Package gateway tests hns-gateway on a control plane without constrained impersonation.
package gateway

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binDir = "../../../_output/bin"

var (
	cp    *controlplane.ControlPlane
	admin suite.User
)

func TestMain(m *testing.M) {
	os.Exit(suite.RunConfigured(m, binDir, func(config *controlplane.Config) error {
		config.APIServerArgs = []string{"--feature-gates=ConstrainedImpersonation=false"}
		return nil
	}, setUp))
}

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	var err error
	if admin, err = suite.NewUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	_, err = suite.Install(ctx, cp, suite.Artifacts, suite.Servers()...)
	return err
}

// Without constrained impersonation kube-apiserver would let nobody act as others with the verbs that the gateway has,
// or with the verb impersonate as anybody everywhere.
func TestNothingIsServedWithoutConstrainedImpersonation(t *testing.T) {
	_, err := cp.Install(t.Context(), "../../../artifacts/dev-view")
	must(t, "install", err)
	_, kubeconfig, err := cp.ServiceAccount(t.Context(), controlplane.Namespace, hnc.GatewayName)
	must(t, "token", err)
	g := start(t, kubeconfig)
	g.serves(t, "ConstrainedImpersonation")
	_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "too-much"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: controlplane.Namespace, Name: hnc.GatewayName}}}, metav1.CreateOptions{})
	must(t, "binding", err)
	g.serves(t, "remove that permission")
	views := admin.HNC.HncV1alpha3().TenantViews("default")
	_, err = views.Create(t.Context(), &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton}}, metav1.CreateOptions{})
	must(t, "view", err)
	suite.Eventually(t, "the TenantView says so", func() error {
		v, err := views.Get(t.Context(), hnc.TenantViewSingleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ready := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != hnc.ReasonGatewayUnavailable || !strings.Contains(ready.Message, "hns-gateway") {
			return fmt.Errorf("got %+v", ready)
		}
		return nil
	})
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
