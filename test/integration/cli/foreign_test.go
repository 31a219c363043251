package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNamesForgeNoOutput has a RoleBinding whose name contains line breaks, an escape sequence and a mark that changes
// the direction of text. The API server accepts it, and it is propagated.
func TestNamesForgeNoOutput(t *testing.T) {
	const (
		name  = "forged\nUser  root  cluster-admin  all  (cluster)\x1bc\u202e"
		shown = `forged\nUser  root  cluster-admin  all  (cluster)\x1bc\u202e`
	)
	namespace(t, "forge", "")
	namespace(t, "forge-a", "forge")
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "jane\u202e"}},
	}
	if _, err := kube.RbacV1().RoleBindings("forge").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForRoleBinding(t, "forge-a", name)
	for _, args := range [][]string{
		{"who", "forge-a"},
		{"tree", "forge", "--objects", "rolebindings"},
		{"tree", "forge", "--objects", "rolebindings", "-o", "dot"},
		{"why", "rolebinding", name, "-n", "forge-a"},
		{"plan", "forge-a", "--root"},
		{"get", "rolebindings", "-n", "forge"},
	} {
		for where, out := range map[string]string{"a pipe": root.hns(t, args...).stdout, "a terminal": onTerminal(t, nil, args...)} {
			if !strings.Contains(out, shown) {
				t.Errorf("%s on %s does not show the name:\n%s", args[0], where, out)
			}
			for line := range strings.Lines(out) {
				if strings.HasPrefix(strings.TrimSpace(line), "User  root") || strings.Contains(line, "\x1bc") || strings.ContainsFunc(line, isHidden) {
					t.Errorf("%s on %s: the line %q is forged or not visible", args[0], where, line)
				}
			}
		}
	}
	r := root.hns(t, "plan", "forge-a", "--root", "-o", "json")
	if encoded, err := json.Marshal(name); err != nil || !strings.Contains(r.stdout, strings.Trim(string(encoded), `"`)) {
		t.Errorf("%v: -o json does not have the exact name %s:\n%s", err, encoded, r.stdout)
	}
}

func isHidden(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
