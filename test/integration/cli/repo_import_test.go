package cli

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTreeIsImported writes a repository from a tree.
func TestTreeIsImported(t *testing.T) {
	t.Parallel()
	namespace(t, "imported", "")
	removed(t, "imported")
	namespace(t, "imported-child", "imported")
	removed(t, "imported-child")
	if _, err := kube.RbacV1().Roles("imported").Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "view:all"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.CoreV1().Secrets("imported").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := kube.RbacV1().Roles("imported-child").Get(t.Context(), "view:all", metav1.GetOptions{})
		return err
	})
	run := func(u user, args ...string) (files string, r result) {
		t.Helper()
		dir := t.TempDir()
		r = u.hns(t, append([]string{"repo", "import", "--path", dir}, args...)...)
		var found []string
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
			if below, ok := strings.CutPrefix(name, "namespaces/"); ok && !entry.IsDir() {
				found = append(found, below)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(found, " "), r
	}
	const want = "imported/imported/namespace.yaml imported/imported-child/namespace.yaml imported/role_view_all.yaml"
	if files, r := run(root, "imported"); r.code != 0 || files != want || !strings.HasSuffix(r.stdout, "No validation issues found.\n") {
		t.Errorf("got %d %q\n%s%s", r.code, files, r.stdout, r.stderr)
	}
	if files, r := run(root, "imported", "--secrets"); r.code != 0 || !strings.Contains(files, "imported/imported/secret_password.yaml") {
		t.Errorf("with Secrets: got %d %q\n%s", r.code, files, r.stderr)
	}
	if files, r := run(root); r.code != 0 || !strings.Contains(files, want) || strings.Contains(files, "kube-system") {
		t.Errorf("all trees: got %d %q\n%s", r.code, files, r.stderr)
	}
	if files, r := run(root, "imported-child"); r.code != 0 || files != "imported-child/namespace.yaml imported-child/role_view_all.yaml" {
		t.Errorf("a part of the tree: got %d %q %q", r.code, files, r.stderr)
	}
	if _, r := run(root, "--resources", "secrets"); r.code != 4 || !strings.Contains(r.stderr, "--secrets only") {
		t.Errorf("Secrets as a kind: got %d %q", r.code, r.stderr)
	}
	if files, r := run(bob, "imported"); r.code != 1 || files != "" {
		t.Errorf("without permissions: got %d %q", r.code, files)
	}
}
