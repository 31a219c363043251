package hydrate_test

import (
	"fmt"
	"maps"
	"math/rand"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

const seeds = 25

const repo = "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n"

// randomRepository returns a valid repository, by file.
func randomRepository(r *rand.Rand) map[string]string {
	files := map[string]string{"system/repo.yaml": repo}
	for i := range r.Intn(3) {
		files[fmt.Sprintf("cluster/%d.yaml", i)] = fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r%d}\n", i)
	}
	serial := 0
	add := func(dir, selector string) {
		serial++
		metadata := fmt.Sprintf("{name: o%d}", serial)
		if selector != "" {
			metadata = fmt.Sprintf("{name: o%d, annotations: {configmanagement.gke.io/namespace-selector: %s}}", serial, selector)
		}
		files[fmt.Sprintf("%s/o%d.yaml", dir, serial)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: %s\n", metadata)
	}
	var grow func(dir string, depth int)
	grow = func(dir string, depth int) {
		selector := ""
		if r.Intn(2) == 0 {
			serial++
			selector = fmt.Sprintf("s%d", serial)
			files[dir+"/selector.yaml"] = fmt.Sprintf("apiVersion: configmanagement.gke.io/v1\nkind: NamespaceSelector\nmetadata: {name: %s}\nspec: {selector: {matchLabels: {color: red}}}\n", selector)
		}
		for range r.Intn(3) {
			add(dir, "")
			add(dir, selector)
		}
		for range 1 + r.Intn(3) {
			serial++
			if depth < 3 && r.Intn(2) == 0 {
				grow(fmt.Sprintf("%s/d%d", dir, serial), depth+1)
				continue
			}
			name := fmt.Sprintf("n%d", serial)
			files[dir+"/"+name+"/namespace.yaml"] = fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {color: %s}}\n", name, []string{"red", "blue"}[r.Intn(2)])
			add(dir+"/"+name, "")
		}
	}
	grow("namespaces", 0)
	return files
}

// hydrated returns the printed files of a repository.
func hydrated(t *testing.T, files map[string]string, shuffle func([]string)) map[string]string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	objects, errors := load.Load(fsys, load.DefaultLimits)
	if len(errors) > 0 {
		t.Fatal(errors)
	}
	if shuffle != nil {
		order := slices.Sorted(maps.Keys(files))
		shuffle(order)
		rank := map[string]int{}
		for i, name := range order {
			rank[name] = i
		}
		slices.SortStableFunc(objects, func(a, b *object.Object) int { return rank[a.Path] - rank[b.Path] })
	}
	result, err := repository.Compile(t.Context(), objects, repository.Options{})
	if err != nil || len(result.Errors) > 0 {
		t.Fatal(err, result)
	}
	printed, err := hydrate.Files(hydrate.Objects(result, false), hydrate.YAML)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range printed {
		got[f.Name] = string(f.Content)
	}
	return got
}

func eachSeed(t *testing.T, property func(*testing.T, *rand.Rand, map[string]string)) {
	for seed := range int64(seeds) {
		r := rand.New(rand.NewSource(seed))
		files := randomRepository(r)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { property(t, r, files) })
	}
}

func TestHydratingIsIdempotent(t *testing.T) {
	eachSeed(t, func(t *testing.T, _ *rand.Rand, files map[string]string) {
		once := hydrated(t, files, nil)
		again := map[string]string{"system/repo.yaml": repo}
		for name, content := range once {
			namespace, inNamespace := strings.CutPrefix(strings.TrimSuffix(name, ".yaml"), "namespace_")
			switch {
			case inNamespace:
				again["namespaces/"+namespace+"/"+name] = content
			case strings.Contains(name, "/"):
				again["namespaces/"+name] = content
			default:
				again["cluster/"+name] = content
			}
		}
		if diff := cmp.Diff(once, hydrated(t, again, nil)); diff != "" {
			t.Errorf("(-once +twice)\n%s", diff)
		}
	})
}

func TestOrderOfFilesDoesNotMatter(t *testing.T) {
	eachSeed(t, func(t *testing.T, r *rand.Rand, files map[string]string) {
		want := hydrated(t, files, nil)
		shuffled := hydrated(t, files, func(names []string) {
			r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		})
		if diff := cmp.Diff(want, shuffled); diff != "" {
			t.Errorf("loaded in another order (-want +got)\n%s", diff)
		}
		renamed := map[string]string{}
		for name, content := range files {
			renamed[fmt.Sprintf("%s/%016x.yml", path.Dir(name), r.Uint64())] = content
		}
		if diff := cmp.Diff(want, hydrated(t, renamed, nil)); diff != "" {
			t.Errorf("with other names of files (-want +got)\n%s", diff)
		}
	})
}

func TestDeletingAFileChangesOnlyDescendants(t *testing.T) {
	eachSeed(t, func(t *testing.T, r *rand.Rand, files map[string]string) {
		before := hydrated(t, files, nil)
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
			return !strings.HasPrefix(name, "namespaces/") || !strings.HasPrefix(path.Base(name), "o")
		})
		if len(names) == 0 {
			t.Skip("no objects")
		}
		deleted := names[r.Intn(len(names))]
		rest := maps.Clone(files)
		delete(rest, deleted)
		after := hydrated(t, rest, nil)
		below := map[string]bool{}
		for name := range files {
			if path.Base(name) == "namespace.yaml" && strings.HasPrefix(name, path.Dir(deleted)+"/") {
				below[path.Base(path.Dir(name))] = true
			}
		}
		gone := strings.TrimSuffix(path.Base(deleted), ".yaml")
		for name, content := range before {
			if got, kept := after[name]; kept && got != content {
				t.Errorf("%s changes with %s", name, deleted)
			} else if !kept && (!below[path.Dir(name)] || path.Base(name) != "configmap_"+gone+".yaml") {
				t.Errorf("%s goes with %s", name, deleted)
			}
		}
		for name := range after {
			if _, was := before[name]; !was {
				t.Errorf("%s comes when %s goes", name, deleted)
			}
			if path.Base(name) == "configmap_"+gone+".yaml" {
				t.Errorf("%s stays", name)
			}
		}
	})
}
