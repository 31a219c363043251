package reposync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gogit "github.com/go-git/go-git/v5"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
)

// newSource returns a source that reads a pinned commit of a repository that does not exist.
func newSource(commit string) *source {
	return &source{reader: &git.Reader{}, spec: &v1alpha3.RepositorySyncSpec{Source: v1alpha3.RepositorySource{URL: "file:///none", Commit: commit}}}
}

// commit commits files to a new repository, policy in the directory that it returns.
func commit(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	repository, err := gogit.PlainInit(root+"/policy", false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(root, "policy", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Add(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tree.Commit("test", &gogit.CommitOptions{Author: &gitobject.Signature{Name: "test"}}); err != nil {
		t.Fatal(err)
	}
	return root
}

// localSource returns a source that reads what commit has returned.
func localSource(root string) *source {
	return &source{reader: &git.Reader{LocalRoot: root}, spec: &v1alpha3.RepositorySyncSpec{Source: v1alpha3.RepositorySource{URL: "file://" + root + "/policy"}}}
}

func TestListedKindsTakeMemory(t *testing.T) {
	kinds := "NAME APIVERSION NAMESPACED KIND\n"
	for i := range 1000 {
		kinds += fmt.Sprintf("name example.com/v1 true Kind%d\n", i)
	}
	s := localSource(commit(t, map[string]string{kindscope.FileName: kinds, "cluster/a.txt": "none"}))
	s.memory = newSpace(1000 * valueBytes * 4)
	read, err := s.read(t.Context())
	if err != nil || len(read.errors) > 0 || read.share.bytes != 1000*valueBytes {
		t.Fatalf("got %+v, %v", read, err)
	}
	read.share.release()
	s.head, s.memory.total = "", s.memory.total-1
	if read, err = s.read(t.Context()); err != nil || len(read.errors) != 1 || read.errors[0].Code != report.LimitExceeded || read.listed != nil {
		t.Fatalf("got %+v, %v", read, err)
	}
}

func TestCommitsThatCannotBeReadAreReadMoreAndMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		var waits []time.Duration
		for range 12 {
			if _, err := s.read(t.Context()); err == nil || !strings.Contains(err.Error(), "local repositories are not allowed") {
				t.Fatalf("got %v", err)
			}
			waits = append(waits, time.Until(s.until))
			before := s.until
			time.Sleep(time.Until(s.until) - time.Nanosecond)
			if _, err := s.read(t.Context()); err == nil || s.until != before {
				t.Fatalf("it is read again after %s, or it is not reported: %v", waits[len(waits)-1], err)
			}
			time.Sleep(time.Nanosecond)
		}
		if want := []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300}; !slices.EqualFunc(waits, want, func(a, b time.Duration) bool { return a == b*time.Second }) {
			t.Errorf("got %s", waits)
		}
		s.spec.Source.Commit = "b"
		if _, err := s.read(t.Context()); err == nil || time.Until(s.until) != minRetry {
			t.Errorf("another commit waits for %s", time.Until(s.until))
		}
		s.backOff(git.ErrBudget)
		if time.Until(s.until) != minRetry {
			t.Error("a commit that finds no space waits longer")
		}
	})
}
