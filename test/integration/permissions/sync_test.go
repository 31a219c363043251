package permissions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

const accounts = "hns-repositories"

// synchronized is set when synchronize has been called.
var synchronized bool

// synchronize has hns-sync do all that it does as itself: read a RepositorySync and its Secret, act as its account, and
// report.
func synchronize(t *testing.T) {
	t.Helper()
	if synchronized {
		return
	}
	synchronized = true
	ctx := t.Context()
	repository := filepath.Join(local, "policy")
	git, err := gogit.PlainInit(repository, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"system/repo.yaml":                 "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n",
		"namespaces/synced/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: synced}\n",
	} {
		path := filepath.Join(repository, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := git.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.AddWithOptions(&gogit.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	author := &object.Signature{Name: "test", Email: "test@example.com", When: time.Now()}
	if _, err := tree.Commit("test", &gogit.CommitOptions{Author: author}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		second(kube.CoreV1().ServiceAccounts(accounts).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "policy"}}, metav1.CreateOptions{})),
		second(kube.CoreV1().Secrets(accounts).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "git"}}, metav1.CreateOptions{})),
		second(kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "policy"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: accounts, Name: "policy"}},
		}, metav1.CreateOptions{})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	apply(t, "repositorysyncs", "RepositorySync", "", "policy",
		fmt.Sprintf(`{"source":{"url":"file://%s","secretName":"git"},"serviceAccount":{"namespace":%q,"name":"policy"},"interval":"1s"}`, repository, accounts))
	eventually(t, "the namespace of the repository", func(ctx context.Context) error {
		return second(kube.CoreV1().Namespaces().Get(ctx, "synced", metav1.GetOptions{}))
	})
	eventually(t, "an event about the synchronization", func(ctx context.Context) error {
		events, err := kube.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "reason=Synced"})
		if err == nil && len(events.Items) == 0 {
			err = errors.New("none")
		}
		return err
	})
}

func TestSyncNeedsAllPermissionsThatItHas(t *testing.T) {
	synchronize(t)
	sync := requests(t, "hns-sync")
	permissions := sets.New[string]()
	for _, name := range []string{"hns-sync", "hns-sync:accounts"} {
		permissions = permissions.Union(allowed(clusterRole(t, name)))
	}
	for namespace, name := range map[string]string{metav1.NamespaceDefault: "hns-sync:events", "hns-system": "hns-sync:leader-election"} {
		role, err := kube.RbacV1().Roles(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		permissions = permissions.Union(allowed(role.Rules))
	}
	for request := range permissions.Difference(sync) {
		// An event that repeats is changed.
		if request != "patch events." {
			t.Errorf("hns-sync may do what it does not need: %s", request)
		}
	}
	for request := range sync.Difference(permissions) {
		// Those of the serving library are in roles of Kubernetes.
		if review := strings.Contains(request, "reviews.auth"); !review && request != "read configmaps." && request != "get configmaps." {
			t.Errorf("hns-sync requests something new: %s", request)
		}
	}
}

// The account of hns-sync is nobody outside the namespace of accounts.
func TestSyncActsAsAccountsOfOneNamespaceOnly(t *testing.T) {
	for _, row := range []struct {
		namespace, verb, resource string
		want                      bool
	}{
		{accounts, "impersonate", "serviceaccounts", true},
		{accounts, "get", "secrets", true},
		{accounts, "list", "secrets", false},
		{accounts, "create", "serviceaccounts", false},
		{accounts, "impersonate", "users", false},
		{"hns-system", "impersonate", "serviceaccounts", false},
		{"kube-system", "impersonate", "serviceaccounts", false},
		{"hns-system", "get", "secrets", false},
		{"kube-system", "get", "secrets", false},
		{"default", "impersonate", "serviceaccounts", false},
	} {
		got, err := reviewIn(t.Context(), row.namespace, "hns-sync", row.verb, row.resource, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got != row.want {
			t.Errorf("hns-sync may %s %s in %s: %v, want %v", row.verb, row.resource, row.namespace, got, row.want)
		}
	}
}
