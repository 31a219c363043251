package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// repository returns a repository below root with one commit of files; a content that begins with -> is a symbolic
// link.
func repository(t *testing.T, root string, files map[string]string) (dir, commit string) {
	t.Helper()
	dir = filepath.Join(root, "policy")
	r, err := gogit.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return dir, commitTo(t, r, dir, files)
}

func commitTo(t *testing.T, r *gogit.Repository, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if target, link := strings.CutPrefix(content, "->"); link {
			err = errors.Join(err, os.Symlink(target, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tree, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.AddWithOptions(&gogit.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	hash, err := tree.Commit("c", &gogit.CommitOptions{Author: &object.Signature{Name: "a", Email: "a@example.com", When: time.Unix(1, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}

func TestLinksDoNotLeadOutOfTheCommit(t *testing.T) {
	root := t.TempDir()
	dir, _ := repository(t, root, map[string]string{
		"a/file": "content", "a/link": "->../a/file", "a/out": "->../../secret", "a/absolute": "->/etc/passwd", "a/loop": "->loop", "a/git": "->../.git/config",
	})
	if err := os.WriteFile(filepath.Join(root, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot, err := (&Reader{LocalRoot: root}).Read(t.Context(), Source{URL: "file://" + dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a/file": "content", "a/link": "content", "a/out": "", "a/absolute": "", "a/loop": "", "a/git": "", "../secret": ""} {
		content, err := fs.ReadFile(snapshot.FS, name)
		if string(content) != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", name, content, err)
		}
	}
	sub, err := snapshot.Sub("a")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := fs.ReadFile(sub, "link"); err != nil || string(content) != "content" {
		t.Errorf("in a directory: got %q, %v", content, err)
	}
	if _, err := snapshot.Sub("missing"); err == nil {
		t.Error("a missing directory is no error")
	}
}

func TestSnapshotsDoNotMove(t *testing.T) {
	root := t.TempDir()
	dir, first := repository(t, root, map[string]string{"file": "1"})
	reader, source := &Reader{LocalRoot: root}, Source{URL: "file://" + dir}
	snapshot, err := reader.Read(t.Context(), source, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gogit.PlainOpen(dir)
	if err != nil {
		t.Fatal(err)
	}
	second := commitTo(t, r, dir, map[string]string{"file": "2"})
	if content, err := fs.ReadFile(snapshot.FS, "file"); err != nil || string(content) != "1" || snapshot.Commit != first {
		t.Errorf("got %q, %v, %s", content, err, snapshot.Commit)
	}
	if head, err := reader.Head(t.Context(), source, nil); err != nil || head != second {
		t.Errorf("got %s, %v", head, err)
	}
	source.Commit = first
	if snapshot, err = reader.Read(t.Context(), source, nil); err != nil || snapshot.Commit != first {
		t.Errorf("a pinned commit: got %v, %v", snapshot, err)
	}
}

func TestLocalRepositoriesAreBelowTheRoot(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	dir, _ := repository(t, outside, map[string]string{"file": "1"})
	if err := os.Symlink(dir, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	redirect := filepath.Join(root, "redirect")
	if err := errors.Join(os.Mkdir(redirect, 0o700), os.WriteFile(filepath.Join(redirect, ".git"), []byte("gitdir: "+dir+"/.git\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(root, "link"), redirect, "/etc", filepath.Join(root, "missing")} {
		if _, err := (&Reader{LocalRoot: root}).Read(t.Context(), Source{URL: "file://" + path}, nil); err == nil || !strings.Contains(err.Error(), "is not a Git repository below") {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := (&Reader{}).Read(t.Context(), Source{URL: "file://" + dir}, nil); !errors.Is(err, errNoLocal) {
		t.Errorf("without a root: got %v", err)
	}
}

func TestOtherProtocolsAreRejected(t *testing.T) {
	for _, url := range []string{"http://example.com/x", "git://example.com/x", "ext::sh -c id", "/etc", "example.com:x"} {
		if _, err := (&Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20}).Read(t.Context(), Source{URL: url}, nil); err == nil {
			t.Errorf("%s is accepted", url)
		}
	}
	if _, err := (&Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20}).Read(t.Context(), Source{URL: "ssh://git@example.com/x"}, nil); err == nil || !strings.Contains(err.Error(), "known_hosts") {
		t.Errorf("ssh without known hosts: got %v", err)
	}
}
