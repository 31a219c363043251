package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestConfigOfAKindThatThePropagatorMayNotHandle(t *testing.T) {
	t.Cleanup(func() { configure(t) })
	configurator := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "configurator"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{hnc.GroupName}, Resources: []string{"hncconfigurations"}, Verbs: []string{"get", "update"}}},
	}
	if _, err := kube.RbacV1().ClusterRoles().Create(t.Context(), configurator, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "configurator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "configurator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: "bob"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.RbacV1().ClusterRoleBindings().Delete(context.WithoutCancel(t.Context()), "configurator", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	set := func(more ...string) []string {
		return append([]string{"config", "set-resource", "deployments", "--group", "apps", "--mode", "Propagate"}, more...)
	}
	s := newScript(t, root)
	s.run("config", "set-resource", "deployments", "--group", "apps", "--mode", "Ignore")
	s.run(set("--force", "--grant=false")...)
	s.run(set("--dry-run=server")...)
	s.as("bob, who may change the configuration", bob)
	s.run(set()...)
	s.run(set("--grant")...)
	reviewer := rbacv1.PolicyRule{APIGroups: []string{authorizationv1.GroupName}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}}
	configurator.Rules = append(configurator.Rules, reviewer)
	if _, err := kube.RbacV1().ClusterRoles().Update(t.Context(), configurator, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if r := bob.hns(t, set("--dry-run=server")...); strings.Contains(r.stderr, "create subjectaccessreviews") {
			return fmt.Errorf("the permission to review has no effect: %s", r.stderr)
		}
		return nil
	})
	s.as("bob, who may see the permissions of hns-propagator, and not grant them", bob)
	s.run(set()...)
	s.as("the administrator", root)
	s.run(set()...)
	s.run(set()...)
	// The grant takes effect at the propagator's next try; until then, there is the condition OutOfSync.
	eventually(t, func() error {
		r := root.hns(t, "config", "describe")
		if !strings.Contains(r.stdout, "* Propagating: deployments (apps/v1)\n") || !strings.HasSuffix(r.stdout, "\n\nConditions:\n") {
			return fmt.Errorf("the grant has no effect: %s%s", r.stdout, r.stderr)
		}
		return nil
	})
}
