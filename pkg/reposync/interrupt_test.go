package reposync

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
)

// TestCommitsInterruptEarlierOnes commits while the commit before is applied.
func TestCommitsInterruptEarlierOnes(t *testing.T) {
	root := t.TempDir()
	repository, err := gogit.PlainInit(root+"/policy", false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	commit := func() string {
		t.Helper()
		hash, err := tree.Commit("test", &gogit.CommitOptions{AllowEmptyCommits: true, Author: &object.Signature{Name: "test", When: time.Now()}})
		if err != nil {
			t.Fatal(err)
		}
		return hash.String()
	}
	s := &v1alpha3.RepositorySync{Spec: v1alpha3.RepositorySyncSpec{
		Source: v1alpha3.RepositorySource{URL: "file://" + root + "/policy"}, Interval: &hnc.Duration{Duration: 10 * time.Millisecond},
	}}
	w := &worker{
		manager: &Manager{now: time.Now}, sync: s, completed: time.Now(),
		source: &source{reader: &git.Reader{LocalRoot: root}, spec: &s.Spec, head: commit()},
	}
	_, ended := w.interruptible(t.Context())
	if ended() {
		t.Error("interrupted although there is no later commit")
	}
	applying, end := w.interruptible(t.Context())
	later := commit()
	select {
	case <-applying.Done():
	case <-time.After(time.Minute):
		t.Fatal("not interrupted")
	}
	if !end() {
		t.Error("the end does not say that there is a later commit")
	}

	// A revision that could not be read, and one of many in a row, interrupt nothing.
	unreadable := *w.source
	unreadable.tried = later
	if unreadable.moved(t.Context()) || !w.source.moved(t.Context()) {
		t.Error("the revision that was tried last counts as a later one")
	}
	w.completed = time.Now().Add(-interruptions)
	_, end = w.interruptible(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	if end() {
		t.Error("revisions interrupt each other for ever")
	}
}

func TestFilesAreReadUntilTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	files := untilDone{ctx, fstest.MapFS{"a": {Data: []byte("b")}}}
	if content, err := fs.ReadFile(files, "a"); err != nil || string(content) != "b" {
		t.Errorf("got %q, %v", content, err)
	}
	cancel()
	for name, read := range map[string]func() error{
		"file":      func() error { _, err := fs.ReadFile(files, "a"); return err },
		"directory": func() error { _, err := fs.ReadDir(files, "."); return err },
		"metadata":  func() error { _, err := fs.Stat(files, "a"); return err },
	} {
		if err := read(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
