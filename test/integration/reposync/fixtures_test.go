package reposync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// repository is a Git repository in the directory that hns-sync may read.
type repository struct {
	dir string
	git *gogit.Repository
}

const repo = "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n"

// newRepository returns a repository with one commit.
func newRepository(t *testing.T, files map[string]string) *repository {
	t.Helper()
	r := &repository{dir: filepath.Join(local, strings.ToLower(t.Name()))}
	var err error
	if r.git, err = gogit.PlainInit(r.dir, false); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"system/repo.yaml": repo}
	for name, content := range files {
		all[name] = content
	}
	r.commit(t, all)
	return r
}

// commit writes files, an empty one removes the file, and returns the commit.
func (r *repository) commit(t *testing.T, files map[string]string) string {
	t.Helper()
	tree, err := r.git.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(r.dir, name)
		if content == "" {
			err = os.Remove(path)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.AddWithOptions(&gogit.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	author := &object.Signature{Name: "test", Email: "test@example.com", When: time.Now()}
	hash, err := tree.Commit("test", &gogit.CommitOptions{Author: author})
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}

// head returns the latest commit.
func (r *repository) head(t *testing.T) string {
	t.Helper()
	head, err := r.git.Head()
	if err != nil {
		t.Fatal(err)
	}
	return head.Hash().String()
}

// namespace returns files of a namespace directory.
func namespace(dirs ...string) map[string]string {
	files := map[string]string{}
	for _, dir := range dirs {
		files["namespaces/"+dir+"/namespace.yaml"] = fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", filepath.Base(dir))
	}
	return files
}

func with(files map[string]string, name, content string) map[string]string {
	files[name] = content
	return files
}

// configMap returns the file of a ConfigMap.
func configMap(name, value string, metadata ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n%sdata: {key: %q}\n", name, strings.Join(metadata, ""), value)
}

// spec returns a spec that applies a repository as policy.
func (r *repository) spec() v1alpha3.RepositorySyncSpec {
	return v1alpha3.RepositorySyncSpec{
		Source:         v1alpha3.RepositorySource{URL: "file://" + r.dir},
		ServiceAccount: v1alpha3.ServiceAccountReference{Namespace: accounts, Name: policy},
		Interval:       &hnc.Duration{Duration: time.Second},
		Prune:          true,
	}
}

// start creates a RepositorySync as the operator, and deletes it with the namespaces of its repository at the end of
// the test.
func start(t *testing.T, name string, spec v1alpha3.RepositorySyncSpec) {
	t.Helper()
	s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	suite.Must(t, "create RepositorySync", func() error {
		_, err := operator.HNC.HncV1alpha3().RepositorySyncs().Create(t.Context(), s, metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() {
		if err := operator.HNC.HncV1alpha3().RepositorySyncs().Delete(cleanup(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

// change updates the spec of a RepositorySync as the operator.
func change(t *testing.T, name string, f func(*v1alpha3.RepositorySyncSpec)) {
	t.Helper()
	syncs := operator.HNC.HncV1alpha3().RepositorySyncs()
	err := retry.RetryOnConflict(suite.Backoff, func() error {
		s, err := syncs.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		f(&s.Spec)
		_, err = syncs.Update(t.Context(), s, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// synced waits until a commit is applied.
func synced(t *testing.T, name, commit string) {
	t.Helper()
	suite.Eventually(t, name+" is synced", func() error {
		s, err := admin.HNC.HncV1alpha3().RepositorySyncs().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) && s.Status.AppliedCommit == commit && s.Status.ObservedGeneration == s.Generation {
			return nil
		}
		return fmt.Errorf("want %s: %+v", commit, s.Status)
	})
}

// failing waits until a RepositorySync is not synced for a reason, and its status contains a text.
func failing(t *testing.T, name, reason, text string) {
	t.Helper()
	suite.Eventually(t, name+" is not synced", func() error {
		s, err := admin.HNC.HncV1alpha3().RepositorySyncs().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
		if c != nil && c.Status == metav1.ConditionFalse && c.Reason == reason && strings.Contains(fmt.Sprintf("%+v", s.Status), text) {
			return nil
		}
		return fmt.Errorf("want %s with %q: %+v", reason, text, s.Status)
	})
}

// values returns the ConfigMaps of a namespace with their values, in order; "-" if the namespace does not exist or is
// being deleted.
func values(t *testing.T, namespace string) string {
	t.Helper()
	ns, err := admin.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && ns.DeletionTimestamp != nil {
		return "-"
	}
	list, err := admin.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var all []string
	for i := range list.Items {
		if name := list.Items[i].Name; name != "kube-root-ca.crt" {
			all = append(all, name+"="+list.Items[i].Data["key"])
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// eventually waits until a namespace has these ConfigMaps.
func eventually(t *testing.T, namespace, want string) {
	t.Helper()
	suite.EventuallyEqual(t, "ConfigMaps of "+namespace, want, func() string { return values(t, namespace) })
}
