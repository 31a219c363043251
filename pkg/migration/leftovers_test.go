package migration

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Bindings may have names that a shell would run, or that kubectl would take for flags.
func TestCommandsForLeftoversAreQuoted(t *testing.T) {
	ref := rbacv1.RoleRef{Kind: "ClusterRole", Name: "hnc-manager-role"}
	out := &strings.Builder{}
	m := &Migration{Options: Options{Out: out}, clients: fakeClients(t,
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "--all"}, RoleRef: ref},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "x;reboot"}, RoleRef: ref},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: hnc.HNCNamespace, Name: "$(reboot)"}, RoleRef: ref},
	)}
	if err := printLeftovers(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  kubectl delete 'rolebindings/$(reboot)' -n " + hnc.HNCNamespace + "\n",
		"  kubectl delete clusterrolebindings/--all 'clusterrolebindings/x;reboot'\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed %s, want %s", out, want)
		}
	}
}
