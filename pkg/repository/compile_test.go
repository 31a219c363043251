package repository_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

func TestAncestorsAndTreeLabelsOfANamespace(t *testing.T) {
	for dir, want := range map[string]struct {
		ancestors []string
		labels    map[string]string
	}{
		"leaf":         {nil, map[string]string{"leaf.tree.hnc.x-k8s.io/depth": "0"}},
		"a/b/leaf":     {[]string{"b", "a"}, map[string]string{"leaf.tree.hnc.x-k8s.io/depth": "0", "b.tree.hnc.x-k8s.io/depth": "1", "a.tree.hnc.x-k8s.io/depth": "2"}},
		"a/a/leaf":     {[]string{"a"}, map[string]string{"leaf.tree.hnc.x-k8s.io/depth": "0", "a.tree.hnc.x-k8s.io/depth": "1"}},
		"leaf/a/leaf":  {[]string{"a"}, map[string]string{"leaf.tree.hnc.x-k8s.io/depth": "0", "a.tree.hnc.x-k8s.io/depth": "1"}},
		"c/a/b/a/leaf": {[]string{"a", "b", "c"}, map[string]string{"leaf.tree.hnc.x-k8s.io/depth": "0", "a.tree.hnc.x-k8s.io/depth": "1", "b.tree.hnc.x-k8s.io/depth": "2", "c.tree.hnc.x-k8s.io/depth": "4"}},
	} {
		t.Run(dir, func(t *testing.T) {
			result := compile(t, minimal.with(files{"namespaces/" + dir + "/x.yaml": namespace("leaf", "")}), repository.Options{AllowSharedNames: true})
			if len(result.Errors) > 0 || len(result.Namespaces) != 1 {
				t.Fatal(result.Errors)
			}
			if diff := cmp.Diff(want.ancestors, result.Namespaces[0].AbstractAncestors); diff != "" {
				t.Errorf("ancestors (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(want.labels, result.Namespaces[0].TreeLabels); diff != "" {
				t.Errorf("tree labels (-want +got)\n%s", diff)
			}
		})
	}
}

// Copying what is inherited for each directory would allocate gigabytes.
func TestDirectoriesDoNotCopyWhatTheyInherit(t *testing.T) {
	f := files{"namespaces/selector.yaml": namespaceSelector("none", "{selector: {matchLabels: {a: b}}}")}
	for i := range 5000 {
		f[fmt.Sprintf("namespaces/m%d.yaml", i)] = configMap(fmt.Sprint("m", i), annotated("configmanagement.gke.io/namespace-selector", "none"))
	}
	for i := range 20 {
		dir := "namespaces"
		for j := range 50 {
			dir += fmt.Sprintf("/d%d-%d", i, j)
			f[dir+"/m.yaml"] = configMap(fmt.Sprint("d", j), "")
		}
		name := fmt.Sprint("n", i)
		f[dir+"/"+name+"/n.yaml"] = namespace(name, "")
	}
	objects, errs := load.Load(minimal.with(f).fs(), load.DefaultLimits)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result, err := repository.Compile(t.Context(), objects, repository.Options{})
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err != nil || len(result.Errors) > 0 || allocated > 32<<20 {
		t.Errorf("%v %v, %d MiB were allocated", err, result.Errors, allocated>>20)
	}
}

// A commit may follow one with as many CustomResourceDefinitions as a repository may have objects.
func TestPreviousKindsAreLookedUp(t *testing.T) {
	kinds := make([]schema.GroupKind, 100_000)
	for i := range kinds {
		kinds[i] = schema.GroupKind{Group: "example.com", Kind: fmt.Sprintf("Widget%06d", i)}
	}
	objects := make([]*object.Object, 50_000)
	for i := range objects {
		o := unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget999999", "metadata": map[string]any{"name": "a"}}}
		objects[i] = &object.Object{Unstructured: o, Path: "cluster/a.yaml"}
	}
	begin := time.Now()
	if _, err := repository.Compile(t.Context(), objects, repository.Options{PreviousKinds: kinds}); err != nil {
		t.Fatal(err)
	}
	if used := time.Since(begin); used > 10*time.Second {
		t.Errorf("it took %s", used)
	}
}

// TestCompileDoesNotChangeObjects compiles for several clusters from the same objects.
func TestCompileDoesNotChangeObjects(t *testing.T) {
	f := small.with(files{
		engFile: configMap("a", annotated("example.com/x", "z")), mapFile: configMap("b", ""),
		"namespaces/default/n.yaml": namespace("default", ""),
	})
	read := func() []*object.Object {
		objects, errors := load.Load(f.fs(), load.DefaultLimits)
		if len(errors) > 0 {
			t.Fatal(errors)
		}
		return objects
	}
	objects := read()
	for _, name := range []string{"", "prod"} {
		if result, err := repository.Compile(t.Context(), objects, repository.Options{Cluster: name}); err != nil || len(result.Errors) > 0 {
			t.Fatal(err, result)
		}
	}
	for i, o := range read() {
		if diff := cmp.Diff(o, objects[i]); diff != "" {
			t.Errorf("%s (-before +after)\n%s", o.Path, diff)
		}
	}
}

// asked counts how often it is asked whether it has ended.
type asked struct {
	context.Context
	times int
}

func (a *asked) Err() error {
	a.times++
	return a.Context.Err()
}

// Whoever may commit decides how much is inherited, and how many directories and objects there are.
func TestCompileEndsWithTheContext(t *testing.T) {
	const namespaces, checks = 100, 50
	f := maps.Clone(minimal)
	for i := range namespaces {
		name := fmt.Sprint("n", i)
		f["namespaces/"+name+"/namespace.yaml"] = namespace(name, "")
	}
	objects, problems := load.Load(f.fs(), load.DefaultLimits)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ended, end := context.WithCancel(t.Context())
	ctx := &asked{Context: ended}
	if _, err := repository.Compile(ctx, objects, repository.Options{}); err != nil || ctx.times < namespaces+checks {
		t.Errorf("asked %d times: got %v", ctx.times, err)
	}
	end()
	if result, err := repository.Compile(ctx, objects, repository.Options{}); result != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", result, err)
	}
}

func TestObjectsCanBeCreatedInOrder(t *testing.T) {
	result := compile(t, small.with(files{
		"cluster/b.yaml": clusterRole("b", ""), "cluster/z.yaml": crd("widgets.example.com", "example.com", "Namespaced"),
		mapFile: configMap("z", ""), "namespaces/eng/shop/a.yaml": item("example.com/v1", "Widget", "w", "", ""),
	}), repository.Options{})
	var got []string
	for _, o := range result.Objects {
		got = append(got, o.GetKind())
	}
	if diff := cmp.Diff([]string{"CustomResourceDefinition", "ClusterRole", "Namespace", "ConfigMap", "Widget"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestInheritanceIsBounded has 600 objects in 400 namespaces each, from two files.
func TestInheritanceIsBounded(t *testing.T) {
	var objects strings.Builder
	for i := range 600 {
		objects.WriteString("---\n" + configMap(fmt.Sprintf("m%d", i), ""))
	}
	f := minimal.with(files{"namespaces/maps.yaml": objects.String()})
	for i := range 400 {
		name := fmt.Sprintf("n%d", i)
		f["namespaces/"+name+"/n.yaml"] = namespace(name, "")
	}
	result := compile(t, f, repository.Options{})
	if diff := cmp.Diff([]string{string(report.LimitExceeded)}, codes(result.Errors)); diff != "" || result.Objects != nil {
		t.Errorf("%d objects, errors (-want +got)\n%s", len(result.Objects), diff)
	}
}

// TestInheritedContentIsBounded has one file each that 1,000 namespaces inherit, or select objects by.
func TestInheritedContentIsBounded(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	selected := many(50, "---\n"+configMap("m%d", annotated(object.AnnotationNamespaceSelector, "s")))
	for name, c := range map[string]struct {
		file    string
		bounded bool
	}{
		"texts":               {configMap("m", "") + "data: {a: " + strings.Repeat("a", 1<<20) + "}\n", true},
		"values":              {configMap("m", "") + "data: [" + many(50_000, "%d,") + "]\n", true},
		"fields":              {configMap("m", "") + many(5_000, "f%d: 0\n"), true},
		"fields of metadata":  {configMap("m", many(5_000, "f%d: 0,")), true},
		"a small object":      {configMap("m", "") + "data: {a: " + strings.Repeat("a", 1<<18) + "}\n", false},
		"a selector":          {namespaceSelector("s", "{selector: {matchExpressions: ["+many(300, "{key: k%d, operator: DoesNotExist},")+"]}}") + selected, true},
		"a selector of a few": {namespaceSelector("s", "{selector: {matchExpressions: ["+many(10, "{key: k%d, operator: Exists},")+"]}}") + selected, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := minimal.with(files{"namespaces/file.yaml": c.file})
			for i := range 1000 {
				name := fmt.Sprintf("n%d", i)
				f["namespaces/"+name+"/n.yaml"] = namespace(name, "")
			}
			result := compile(t, f, repository.Options{})
			if bounded := slices.Contains(codes(result.Errors), string(report.LimitExceeded)); bounded != c.bounded {
				t.Errorf("%d objects, errors: %v", len(result.Objects), result.Errors)
			}
			if c.bounded && (len(result.Errors) != 1 || !strings.Contains(result.Errors[0].Message, "512 MiB")) {
				t.Errorf("got %v", result.Errors)
			}
		})
	}
}

// A namespace may inherit thousands of objects.
func TestErrorsOfUnmanagedNamespacesAreBounded(t *testing.T) {
	unmanaged := annotated("configmanagement.gke.io/managed", "disabled")
	f := small.with(files{namespaceFile: namespace("shop", unmanaged), "namespaces/eng/bank/namespace.yaml": namespace("bank", unmanaged)})
	for i := range 30 {
		name := fmt.Sprint("a", i)
		f["namespaces/eng/"+name+".yaml"] = configMap(name, "")
	}
	result := compile(t, f, repository.Options{})
	if len(result.Errors) != 2 {
		t.Fatalf("got %d errors", len(result.Errors))
	}
	for _, err := range result.Errors {
		if len(err.Sources) > 11 || !strings.Contains(err.Message, "30 do not") {
			t.Errorf("got %v", err)
		}
	}
}

// TestStagesAreBarriers has errors of three stages, of which only the first is reported, and all of its errors are.
func TestStagesAreBarriers(t *testing.T) {
	f := small.with(files{
		mapFile:                        configMap("a", "namespace: other, "+labeled("configsync.gke.io/x", "a")),
		"cluster/map.yaml":             configMap("a", ""),
		"namespaces/eng/leaf/map.yaml": configMap("a", ""),
	})
	for _, step := range []struct {
		fix  files
		want []string
	}{
		{nil, []string{"KNV1009", "KNV1011"}},
		{files{mapFile: ""}, []string{"KNV1039"}},
		{files{mapFile: "", "cluster/map.yaml": ""}, []string{"KNV1044"}},
	} {
		result := compile(t, f.with(step.fix), repository.Options{})
		if diff := cmp.Diff(step.want, codes(result.Errors)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// TestUnknownKindsDoNotBlock has one kind that the cluster does not serve: all the rest can be applied.
func TestUnknownKindsDoNotBlock(t *testing.T) {
	f := small.with(files{mapFile: configMap("a", ""), "namespaces/eng/w.yaml": item("example.com/v1", "Widget", "w", "", "")})
	result := compile(t, f, repository.Options{})
	if diff := cmp.Diff([]string{string(report.UnknownKind)}, codes(result.Errors)); diff != "" || len(result.Objects) != 2 {
		t.Errorf("%d objects, errors (-want +got)\n%s", len(result.Objects), diff)
	}
	if result = compile(t, f, repository.Options{AssumeScopes: true}); len(result.Errors) > 0 || len(result.Objects) != 3 {
		t.Errorf("offline: %d objects, %v", len(result.Objects), result.Errors)
	}
}
