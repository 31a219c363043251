package load_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

const someMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// expect loads a repository that must have exactly one error, of a code, that mentions text and path.
func expect(t *testing.T, fsys fs.FS, code report.Code, path, text string) {
	t.Helper()
	objects, errors := load.Load(fsys, load.DefaultLimits)
	if len(errors) != 1 || errors[0].Code != code || len(errors[0].Paths) != 1 || errors[0].Paths[0] != path || !strings.Contains(errors[0].Message, text) {
		t.Fatalf("want only %s at %s about %q, got %v", code, path, text, errors)
	}
	if objects != nil {
		t.Errorf("%d objects are loaded although there is an error", len(objects))
	}
}

// root returns a directory that links cannot lead out of, as the plugin opens it.
func root(t *testing.T) (fs.FS, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cluster"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r.FS(), dir
}

func TestLinksDoNotLeadOutOfTheRepository(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte(someMap), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"absolute": outside, "relative": "../../../../../../../../etc/passwd", "loop": "link.yaml"} {
		t.Run(name, func(t *testing.T) {
			fsys, dir := root(t)
			if err := os.Symlink(target, filepath.Join(dir, "cluster", "link.yaml")); err != nil {
				t.Fatal(err)
			}
			expect(t, fsys, report.UnreadableFile, "cluster/link.yaml", "cannot be followed")
		})
	}
	t.Run("a directory", func(t *testing.T) {
		fsys, dir := root(t)
		if err := os.Symlink(".", filepath.Join(dir, "cluster", "again")); err != nil {
			t.Fatal(err)
		}
		expect(t, fsys, report.LinkedDirectory, "cluster/again", "not followed")
	})
	t.Run("a file inside is read", func(t *testing.T) {
		fsys, dir := root(t)
		if err := os.WriteFile(filepath.Join(dir, "shared.yaml"), []byte(someMap), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../shared.yaml", filepath.Join(dir, "cluster", "link.yaml")); err != nil {
			t.Fatal(err)
		}
		objects, errors := load.Load(fsys, load.DefaultLimits)
		if len(errors) > 0 || len(objects) != 1 || objects[0].Path != "cluster/link.yaml" {
			t.Fatalf("got %v, %v", objects, errors)
		}
	})
}

func TestPipesAreNotOpened(t *testing.T) {
	fsys, dir := root(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "cluster", "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		expect(t, fsys, report.UnreadableFile, "cluster/pipe.yaml", "not a regular file")
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the loader waits for a writer")
	}
}

// escaping is a file system whose directories name entries outside them.
type escaping struct{ fstest.MapFS }

type escapingEntry struct{ fs.DirEntry }

func (escapingEntry) Name() string { return "../../secret.yaml" }

func (e escaping) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := e.MapFS.ReadDir(name)
	if name != "." {
		for i := range entries {
			entries[i] = escapingEntry{entries[i]}
		}
	}
	return entries, err
}

func TestEntriesDoNotLeadOutOfTheirDirectory(t *testing.T) {
	fsys := escaping{fstest.MapFS{"cluster/a.yaml": {Data: []byte(someMap)}}}
	expect(t, fsys, report.UnreadableFile, "cluster", `illegal name "../../secret.yaml"`)
}

func TestAliasesAreCountedExpanded(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	expect(t, file(bomb), report.LimitExceeded, "cluster/a.yaml:1", "aliases expanded")
	merged := "a0: &a0 {k: v}\n"
	for i := 1; i < 40; i++ {
		merged += fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
	}
	expect(t, file(merged), report.LimitExceeded, "cluster/a.yaml:3", "aliases expanded")
	expect(t, file("a: &a [*a]\n"), report.LimitExceeded, "cluster/a.yaml:1", "nested deeper")
	text := "a: &a " + strings.Repeat("x", 100000) + "\nb:\n" + strings.Repeat("- *a\n", 100)
	expect(t, file(text), report.LimitExceeded, "cluster/a.yaml:1", "3 MiB with its aliases expanded")
	var many strings.Builder
	for i := range 20 {
		fmt.Fprintf(&many, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\ndata:\n  a: &a %s\n", i, strings.Repeat("x", 100000))
		for j := range 20 {
			fmt.Fprintf(&many, "  b%d: *a\n", j)
		}
	}
	expect(t, file(many.String()), report.LimitExceeded, "cluster/a.yaml:287", "24 MiB with its aliases expanded")
}

func file(content string) fstest.MapFS {
	return fstest.MapFS{"cluster/a.yaml": {Data: []byte(content)}}
}

func TestDeepValues(t *testing.T) {
	expect(t, file(strings.Repeat("[", 600)+strings.Repeat("]", 600)), report.LimitExceeded, "cluster/a.yaml:1", "nested deeper than 500")
	json := fstest.MapFS{"cluster/a.json": {Data: []byte(strings.Repeat("[", 600) + strings.Repeat("]", 600))}}
	expect(t, json, report.LimitExceeded, "cluster/a.json", "nested deeper than 500")
	expect(t, file(strings.Repeat("[", 1<<19)), report.UnreadableFile, "cluster/a.yaml", "exceeded max depth")
}

func TestBinaryFiles(t *testing.T) {
	expect(t, file("\x7fELF\x00\x01\x02"), report.UnreadableFile, "cluster/a.yaml", "not valid YAML")
	expect(t, file("a: \xff\xfe\xfd"), report.UnreadableFile, "cluster/a.yaml", "not valid YAML")
}

// endless is a file without an end.
type endless struct{ fstest.MapFS }

type endlessFile struct{ fs.File }

func (endlessFile) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

func (e endless) Open(name string) (fs.File, error) {
	f, err := e.MapFS.Open(name)
	return endlessFile{f}, err
}

var _ io.Reader = endlessFile{}

// TestLargeFilesAreNotReadWhole loads a file of 100 MB and one without an end, and looks at how much memory that takes.
func TestLargeFilesAreNotReadWhole(t *testing.T) {
	allocated := func(load func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		load()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	large := filepath.Join(t.TempDir(), "cluster")
	if err := os.Mkdir(large, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(large, "a.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(100 << 20); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	for name, fsys := range map[string]fs.FS{"100 MB": os.DirFS(filepath.Dir(large)), "endless": endless{file("x")}} {
		bytes := allocated(func() { expect(t, fsys, report.LimitExceeded, "cluster/a.yaml", "larger than 16 MiB") })
		if bytes > 100<<20 {
			t.Errorf("%s: %d MiB are allocated", name, bytes>>20)
		}
	}
}

// Each entry may name one blob, which is unpacked again and again.
func TestLargeFilesCountAsRead(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 100 {
		fsys[fmt.Sprintf("cluster/%d.yaml", i)] = &fstest.MapFile{}
	}
	if _, errors := load.Load(endless{fsys}, load.DefaultLimits); len(errors) != 2 || !strings.Contains(errors.Error(), "larger than 24 MiB") {
		t.Errorf("got %d errors: %v", len(errors), errors)
	}
}

// TestDeepDirectories walks into 10 000 nested directories, which no operating system's path could name.
func TestDeepDirectories(t *testing.T) {
	expect(t, deep{}, report.LimitExceeded, "cluster"+strings.Repeat("/d", 64), "nested deeper than 64")
}

// deep is a file system in which every directory contains another one.
type deep struct{}

func (deep) Open(string) (fs.File, error) { return nil, fs.ErrNotExist }

func (deep) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.Count(name, "/") > 10_000 {
		return nil, nil
	}
	entry := "d"
	if name == "." {
		entry = "cluster"
	}
	return fstest.MapFS{entry: {Mode: fs.ModeDir}}.ReadDir(".")
}
