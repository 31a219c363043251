package reposync

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// forbidden checks that a request is denied, with a message.
func forbidden(t *testing.T, what string, err error, text string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: want forbidden with %q, got %v", what, text, err)
	}
}

func TestSpecNeedsThePermissionToImpersonate(t *testing.T) {
	r := newRepository(t, namespace("r-shop"))
	spec := r.spec()
	spec.Paused = true
	other := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, Spec: spec}
	var err error
	// The author's right to create RepositorySyncs takes effect with a delay.
	suite.Eventually(t, "create", func() error {
		_, err = author.HNC.HncV1alpha3().RepositorySyncs().Create(t.Context(), other, metav1.CreateOptions{})
		if err == nil || strings.Contains(err.Error(), "impersonate") {
			return nil
		}
		return err
	})
	forbidden(t, "an account that the author may not impersonate", err, `may not act as the ServiceAccount "policy" in namespace "hns-repositories"`)

	start(t, "permissions", spec)
	syncs := author.HNC.HncV1alpha3().RepositorySyncs()
	_, err = syncs.Patch(t.Context(), "permissions", types.MergePatchType, []byte(`{"spec":{"source":{"url":"https://evil.example.com/x.git"}}}`), metav1.PatchOptions{})
	forbidden(t, "another source", err, "impersonate")
	// The status is not the author's, and labels are.
	if _, err := syncs.Patch(t.Context(), "permissions", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("labels: %v", err)
	}

	syncs = operator.HNC.HncV1alpha3().RepositorySyncs()
	secret := spec.DeepCopy()
	secret.Source.SecretName = "credentials"
	_, err = syncs.Create(t.Context(), &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "secret"}, Spec: *secret}, metav1.CreateOptions{})
	forbidden(t, "a Secret that the operator may not read", err, `may not read the Secret "credentials"`)
	system := spec.DeepCopy()
	system.ServiceAccount = v1alpha3.ServiceAccountReference{Namespace: "hns-system", Name: "hns-propagator"}
	_, err = syncs.Create(t.Context(), &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "system"}, Spec: *system}, metav1.CreateOptions{})
	forbidden(t, "the propagator's account", err, "impersonate")
}

func TestRepositoryDoesNotReachBeyondItsAccount(t *testing.T) {
	r := newRepository(t, namespace("x-shop"))
	spec := r.spec()
	spec.ServiceAccount.Name = limited
	start(t, "limited", spec)
	failing(t, "limited", hnc.ReasonApplyFailed, "system:serviceaccount:hns-repositories:limited")
	if got := values(t, "x-shop"); got != "-" {
		t.Errorf("the namespace was created: %q", got)
	}
	// hns-sync may not impersonate accounts elsewhere, even if an administrator names one.
	s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}, Spec: r.spec()}
	s.Spec.ServiceAccount = v1alpha3.ServiceAccountReference{Namespace: "hns-system", Name: "hns-propagator"}
	if _, err := admin.HNC.HncV1alpha3().RepositorySyncs().Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.HNC.HncV1alpha3().RepositorySyncs().Delete(cleanup(), s.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	failing(t, "elsewhere", hnc.ReasonApplyFailed, "cannot impersonate")
	if got := values(t, "x-shop"); got != "-" {
		t.Errorf("the namespace was created: %q", got)
	}
}

func TestInvalidSpecsAreRejected(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha3.RepositorySyncSpec)
		want   string
	}{
		"a password":         {func(s *v1alpha3.RepositorySyncSpec) { s.Source.URL = "https://a:secret@example.com/x" }, "spec.source.url"},
		"clear text":         {func(s *v1alpha3.RepositorySyncSpec) { s.Source.URL = "http://example.com/x" }, "spec.source.url"},
		"a way out":          {func(s *v1alpha3.RepositorySyncSpec) { s.Source.URL = "file:///repositories/../etc" }, "spec.source.url"},
		"a directory above":  {func(s *v1alpha3.RepositorySyncSpec) { s.Source.Directory = "../x" }, "spec.source.directory"},
		"two revisions":      {func(s *v1alpha3.RepositorySyncSpec) { s.Source.Branch, s.Source.Tag = "a", "b" }, "spec.source: "},
		"a short commit":     {func(s *v1alpha3.RepositorySyncSpec) { s.Source.Commit = "abc" }, "spec.source.commit"},
		"an option":          {func(s *v1alpha3.RepositorySyncSpec) { s.Source.Branch = "--upload-pack=x" }, "spec.source.branch"},
		"no account":         {func(s *v1alpha3.RepositorySyncSpec) { s.ServiceAccount.Name = "" }, "spec.serviceAccount.name"},
		"an account's name":  {func(s *v1alpha3.RepositorySyncSpec) { s.ServiceAccount.Namespace = "a:b" }, "spec.serviceAccount.namespace"},
		"a path as a secret": {func(s *v1alpha3.RepositorySyncSpec) { s.Source.SecretName = "a/b" }, "spec.source.secretName"},
		"no pause":           {func(s *v1alpha3.RepositorySyncSpec) { s.Interval = &hnc.Duration{} }, "spec.interval"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := (&repository{dir: "/repositories/x"}).spec()
			c.change(&spec)
			_, err := admin.HNC.HncV1alpha3().RepositorySyncs().Create(t.Context(), &v1alpha3.RepositorySync{
				ObjectMeta: metav1.ObjectMeta{Name: "invalid"}, Spec: spec,
			}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret@") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestDirectoriesNeedAPermission has an account that may do anything but set abstract ancestors in the whole cluster.
func TestDirectoriesNeedAPermission(t *testing.T) {
	t.Parallel()
	r := newRepository(t, namespace("dd-eng/dd-shop"))
	spec := r.spec()
	spec.ServiceAccount.Name = "undirected"
	if _, err := admin.CoreV1().ServiceAccounts(accounts).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "undirected"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "undirected"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"namespaces"}},
		{Verbs: []string{"*"}, APIGroups: []string{hnc.GroupName}, Resources: []string{"hierarchies"}},
		{Verbs: []string{"use"}, APIGroups: []string{hnc.GroupName}, Resources: []string{"repositorysyncs"}, ResourceNames: []string{"undirected"}},
	}}
	if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	bind := func(role string) {
		t.Helper()
		if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "undirected-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: accounts, Name: "undirected"}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bind("undirected")
	if _, err := admin.HNC.HncV1alpha3().RepositorySyncs().Create(t.Context(), &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "undirected"}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.HNC.HncV1alpha3().RepositorySyncs().Delete(cleanup(), "undirected", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	failing(t, "undirected", hnc.ReasonApplyFailed, "update on hierarchies/abstract.hnc.x-k8s.io")
	bind("hns-abstract-ancestors-admin")
	synced(t, "undirected", r.head(t))
	suite.EventuallyEqual(t, "directories above", "dd-eng", func() string { return abstractAncestors(t, "dd-shop") })
}
