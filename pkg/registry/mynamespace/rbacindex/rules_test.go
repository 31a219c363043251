package rbacindex

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

func rule(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

func TestGrantOf(t *testing.T) {
	for _, test := range []struct {
		what  string
		rules []rbacv1.PolicyRule
		want  Grant
	}{
		{"no rules", nil, Grant{}},
		{"get", []rbacv1.PolicyRule{rule("get", "", "namespaces")}, Grant{All: true}},
		{"wildcards", []rbacv1.PolicyRule{rule("*", "*", "*")}, Grant{All: true}},
		{"another verb", []rbacv1.PolicyRule{rule("list", "", "namespaces")}, Grant{}},
		{"another group", []rbacv1.PolicyRule{rule("get", "apps", "namespaces")}, Grant{}},
		{"another resource", []rbacv1.PolicyRule{rule("get", "", "pods")}, Grant{}},
		{"a subresource", []rbacv1.PolicyRule{rule("get", "", "namespaces/status")}, Grant{}},
		{"any subresource", []rbacv1.PolicyRule{rule("get", "", "*/status")}, Grant{}},
		{"names", []rbacv1.PolicyRule{rule("get", "", "namespaces", "b", "a"), rule("get", "", "namespaces", "b")}, Grant{Names: []string{"a", "b"}}},
		{"a name is not a wildcard", []rbacv1.PolicyRule{rule("get", "", "namespaces", "*")}, Grant{Names: []string{"*"}}},
		{"names and all", []rbacv1.PolicyRule{rule("get", "", "namespaces", "b"), rule("get", "", "namespaces")}, Grant{All: true}},
		{"halves of two rules", []rbacv1.PolicyRule{rule("get", "", "pods"), rule("list", "", "namespaces")}, Grant{}},
		{"no resource", []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"*"}}}, Grant{}},
	} {
		if got := GrantOf("", test.rules); !got.equal(test.want) {
			t.Errorf("%s: got %v, want %v", test.what, got, test.want)
		}
	}
}

func TestNewBinding(t *testing.T) {
	user, group := rbacv1.Subject{Kind: "User", Name: "ann"}, rbacv1.Subject{Kind: "Group", Name: "devs"}
	here, there := rbacv1.Subject{Kind: "ServiceAccount", Name: "robot"}, rbacv1.Subject{Kind: "ServiceAccount", Namespace: "b", Name: "robot"}
	odd := rbacv1.Subject{Kind: "Robot", Name: "r2"}
	all := []rbacv1.Subject{user, group, here, there, odd}
	local := NewBinding("a", "x", rbacv1.RoleRef{Kind: "Role", Name: "r"}, all)
	if want := []Subject{{Name: "ann"}, {Group: true, Name: "devs"}, {Name: "system:serviceaccount:a:robot"}, {Name: "system:serviceaccount:b:robot"}}; !slices.Equal(local.Subjects, want) {
		t.Errorf("got %v", local.Subjects)
	}
	if local.Role != (Role{"a", "r"}) {
		t.Errorf("got role %v", local.Role)
	}
	cluster := NewBinding("", "x", rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"}, all)
	if want := []Subject{{Name: "ann"}, {Group: true, Name: "devs"}, {Name: "system:serviceaccount:b:robot"}}; !slices.Equal(cluster.Subjects, want) {
		t.Errorf("got %v", cluster.Subjects)
	}
	if none := NewBinding("", "x", rbacv1.RoleRef{Kind: "Role", Name: "r"}, all); none.Role != (Role{}) {
		t.Errorf("a ClusterRoleBinding of a Role: got role %v", none.Role)
	}
}
