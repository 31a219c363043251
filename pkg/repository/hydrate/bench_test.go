package hydrate_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// large returns a repository of 1 000 namespaces, in 20 abstract directories, each of which inherits 10 objects: half
// of them from namespaces/, two of them by selectors.
func large() fstest.MapFS {
	files := map[string]string{"system/repo.yaml": repo}
	role := func(name, annotations string) string {
		return fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: %s
  annotations: {%s}
rules:
- apiGroups: ["", apps]
  resources: [pods, deployments, services, configmaps]
  verbs: [get, list, watch]
`, name, annotations)
	}
	files["namespaces/selector.yaml"] = "apiVersion: configmanagement.gke.io/v1\nkind: NamespaceSelector\nmetadata: {name: all}\nspec: {selector: {matchExpressions: [{key: team, operator: Exists}]}}\n"
	for i := range 3 {
		files[fmt.Sprintf("namespaces/role-%d.yaml", i)] = role(fmt.Sprintf("everywhere-%d", i), "")
	}
	for i := range 2 {
		files[fmt.Sprintf("namespaces/selected-%d.yaml", i)] = role(fmt.Sprintf("selected-%d", i), "configmanagement.gke.io/namespace-selector: all")
	}
	for d := range 20 {
		for i := range 5 {
			files[fmt.Sprintf("namespaces/dept-%d/role-%d.yaml", d, i)] = role(fmt.Sprintf("dept-%d", i), "")
		}
		for n := range 50 {
			name := fmt.Sprintf("ns-%d-%d", d, n)
			files[fmt.Sprintf("namespaces/dept-%d/%s/namespace.yaml", d, name)] = fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n  labels: {team: t%d}\n", name, n)
		}
	}
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

// BenchmarkRepository measures loading, compiling and printing 1 000 namespaces with 10 inherited objects each.
// live-MiB is what the result of a step holds.
func BenchmarkRepository(b *testing.B) {
	fsys := large()
	var (
		objects []*object.Object
		result  *repository.Result
	)
	b.Run("load", func(b *testing.B) {
		before := live()
		for b.Loop() {
			var errors any
			if objects, errors = loaded(fsys); errors != nil {
				b.Fatal(errors)
			}
		}
		b.ReportMetric(live()-before, "live-MiB")
	})
	if objects == nil {
		objects, _ = loaded(fsys)
	}
	b.Run("compile", func(b *testing.B) {
		before := live()
		for b.Loop() {
			var err error
			if result, err = repository.Compile(b.Context(), objects, repository.Options{}); err != nil || len(result.Errors) > 0 || len(result.Objects) != 11_000 {
				b.Fatal(err, result)
			}
		}
		b.ReportMetric(live()-before, "live-MiB")
	})
	if result == nil {
		result, _ = repository.Compile(b.Context(), objects, repository.Options{})
	}
	b.Run("print", func(b *testing.B) {
		for b.Loop() {
			if _, err := hydrate.Files(hydrate.Objects(result, false), hydrate.YAML); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func loaded(fsys fstest.MapFS) ([]*object.Object, any) {
	objects, errors := load.Load(fsys, load.DefaultLimits)
	if len(errors) > 0 {
		return nil, errors
	}
	return objects, nil
}

// live returns the size of what is reachable, in MiB.
func live() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc) / (1 << 20)
}
