package hydrate_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
)

// TestHydrate compiles the repository in the folder in/ of each archive and compares the printed files with those in
// its folder out/, which are written by hand. Words in the archive's first line set options: cluster=NAME,
// keep-metadata, json.
func TestHydrate(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, want := &txtar.Archive{}, map[string]string{}
			for _, f := range archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "in/"); ok {
					in.Files = append(in.Files, txtar.File{Name: name, Data: f.Data})
				} else if name, ok := strings.CutPrefix(f.Name, "out/"); ok {
					want[name] = string(f.Data)
				} else {
					t.Fatalf("%s is neither in in/ nor in out/", f.Name)
				}
			}
			header, _, _ := strings.Cut(string(archive.Comment), "\n")
			options := repository.Options{}
			format, keep := hydrate.YAML, false
			for _, word := range strings.Fields(header) {
				switch key, value, _ := strings.Cut(word, "="); key {
				case "cluster":
					options.Cluster = value
				case "keep-metadata":
					keep = true
				case "json":
					format = hydrate.JSON
				default:
					t.Fatalf("unknown option %q", word)
				}
			}
			fsys, err := txtar.FS(in)
			if err != nil {
				t.Fatal(err)
			}
			objects, errs := load.Load(fsys, load.DefaultLimits)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			result, err := repository.Compile(t.Context(), objects, options)
			if err != nil || len(result.Errors) > 0 {
				t.Fatal(err, result)
			}
			files, err := hydrate.Files(hydrate.Objects(result, keep), format)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range files {
				got[f.Name] = string(f.Content)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
