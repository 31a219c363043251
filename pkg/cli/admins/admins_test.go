package admins

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func rule(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{"get", verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

func TestOnlyUpdatingEveryHierarchyMakesAdmin(t *testing.T) {
	for _, row := range []struct {
		rule  rbacv1.PolicyRule
		admin bool
	}{
		{rule("update", hnc.GroupName, "hierarchies"), true},
		{rule("update", hnc.GroupName, "hierarchyconfigurations"), true},
		{rule("*", "*", "*"), true},
		{rule("patch", hnc.GroupName, "hierarchies"), false},
		{rule("update", hnc.GroupName, "subnamespaces"), false},
		{rule("update", hnc.GroupName, "hierarchies/status"), false},
		{rule("update", "", "hierarchies"), false},
		{rule("update", hnc.GroupName, "hierarchies", hnc.Singleton), false},
	} {
		if permitted, names := allow([]rbacv1.PolicyRule{row.rule}, admin); (permitted && len(names) == 0) != row.admin {
			t.Errorf("%v: got %t, %v", row.rule, permitted, names)
		}
	}
}

func binding(name, from, kind, role string) rbacv1.RoleBinding {
	b := rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: name}, RoleRef: rbacv1.RoleRef{Kind: kind, Name: role},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "u-" + name}}}
	if from != "" {
		b.Labels = map[string]string{hnc.LabelInheritedFrom: from}
	}
	return b
}

func TestGrantsNameTheNamespaceOfTheirBinding(t *testing.T) {
	yes := []rbacv1.PolicyRule{rule("update", hnc.GroupName, "hierarchies")}
	r := &Permissions{
		Roles: []rbacv1.Role{{ObjectMeta: metav1.ObjectMeta{Name: "mover"}, Rules: yes}, {ObjectMeta: metav1.ObjectMeta{Name: "reader"}}},
		Bindings: []rbacv1.RoleBinding{binding("own", "", "Role", "mover"), binding("inherited", "acme", "ClusterRole", "boss"),
			binding("no", "acme", "Role", "reader"), binding("missing", "", "Role", "nothing"), binding("unread", "", "ClusterRole", "secret"),
			binding("installed", "acme", "ClusterRole", "admin"), binding("installed-too", "acme", "ClusterRole", "view")},
		ClusterRoles: map[string]rbacv1.ClusterRole{"boss": {Rules: yes}},
		ClusterRoleBindings: []rbacv1.ClusterRoleBinding{{ObjectMeta: metav1.ObjectMeta{Name: "all"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "boss"},
			Subjects: []rbacv1.Subject{{Kind: "Group", Name: "g"}}}},
	}
	grants, unread := r.Admins()
	var got []string
	for _, g := range grants {
		got = append(got, fmt.Sprintf("%s %s %s %q", g.Subject.Name, g.Role, g.Binding, g.At))
	}
	want := []string{`u-own Role/mover RoleBinding/own "here"`, `u-inherited ClusterRole/boss RoleBinding/inherited "acme"`,
		`u-installed ClusterRole/admin RoleBinding/installed "acme"`, `g ClusterRole/boss ClusterRoleBinding/all ""`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if want := []string{"admin", "secret", "view"}; !slices.Equal(unread, want) {
		t.Errorf("got the unread roles %v, want %v", unread, want)
	}
	r.AllClusterRoles = true
	if grants, unread := r.Admins(); len(grants) != 3 || len(unread) > 0 {
		t.Errorf("a ClusterRole that does not exist grants nothing: got %v, %v", grants, unread)
	}
}

// Each subject of a binding repeats what the binding grants.
func TestGrantsAreShort(t *testing.T) {
	long := strings.Repeat("x", 700_000)
	only := []string{long}
	for i := range 100 {
		only = append(only, fmt.Sprintf("a%02d", i))
	}
	b := binding(long, "", "Role", long)
	b.Subjects = make([]rbacv1.Subject, 10)
	r := &Permissions{
		Roles:               []rbacv1.Role{{ObjectMeta: metav1.ObjectMeta{Name: long}, Rules: []rbacv1.PolicyRule{rule("get", "", "pods", only...)}}},
		Bindings:            []rbacv1.RoleBinding{b},
		ClusterRoles:        map[string]rbacv1.ClusterRole{long: {Rules: []rbacv1.PolicyRule{rule("get", "", "pods", long)}}},
		ClusterRoleBindings: []rbacv1.ClusterRoleBinding{{ObjectMeta: metav1.ObjectMeta{Name: long}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: long}, Subjects: b.Subjects}},
	}
	grants, _ := r.Who(Permission{"get", "", "pods"})
	encoded, err := json.Marshal(grants)
	if err != nil || len(grants) != 20 || len(encoded) > 20*2000 {
		t.Errorf("%d grants have %d bytes, error %v", len(grants), len(encoded), err)
	}
	if got := grants[0].Names; len(got) != 11 || got[9] != "a09" || got[10] != "and 91 more" {
		t.Errorf("the names are %v", got)
	}
}

func TestWhoHasAPermission(t *testing.T) {
	r := &Permissions{
		Roles: []rbacv1.Role{
			{ObjectMeta: metav1.ObjectMeta{Name: "logs"}, Rules: []rbacv1.PolicyRule{rule("get", "", "*/log")}},
			{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Rules: []rbacv1.PolicyRule{rule("delete", "", "pods/log", "b", "a"), rule("get", "", "pods/log", "b")}},
			{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Rules: []rbacv1.PolicyRule{rule("get", "", "pods"), rule("get", "apps", "pods/log")}},
		},
		Bindings: []rbacv1.RoleBinding{binding("a", "", "Role", "logs"), binding("b", "acme", "Role", "one"), binding("c", "", "Role", "pods"),
			binding("d", "acme", "ClusterRole", "edit"), binding("e", "", "ClusterRole", "cluster-admin")},
	}
	grants, unread := r.Who(Permission{"get", "", "pods/log"})
	var got []string
	for _, g := range grants {
		got = append(got, fmt.Sprintf("%s %s %v %t", g.Subject.Name, g.At, g.Names, g.Unknown))
	}
	want := []string{"u-a here [] false", "u-b acme [a b] false", "u-d acme [] true", "u-e here [] false"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if want := []string{"cluster-admin", "edit"}; !slices.Equal(unread, want) {
		t.Errorf("got the unread roles %v, want %v", unread, want)
	}
	if all := r.All(); len(all) != 5 || all[2].Subject.Name != "u-c" {
		t.Errorf("got %v", all)
	}
}
