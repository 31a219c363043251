package load_test

import (
	"encoding/json"
	"reflect"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// FuzzLoad loads and compiles a file. Neither may panic, loading needs no more memory than its limits allow, each error
// has a position, and the loaded objects must equal those that kubectl reads.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		someMap,
		someMap + "data: {a: yes, b: 'yes', c: 0x10, d: 0b1, e: 010, f: 1e3, g: 1.5, h: ~, i: 2001-01-01, j: !!binary aGk=, k: off, l: y, m: 0o7, n: 1_000}\n",
		someMap + "data:\n  text: |\n    ---\n    more\n---\n" + someMap,
		someMap + "data: &a {x: y}\nmore: *a\nmerged: {<<: *a, z: 1}\n",
		"apiVersion: v1\nkind: List\nitems:\n- kind: List\n  items: []\n",
		"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\", \"labels\": null}}",
		"apiVersion: configmanagement.gke.io/v1\nkind: NamespaceSelector\nmetadata: {name: s}\nspec: {selector: {matchLabels: {a: b}}}\n",
		"apiVersion: configmanagement.gke.io/v1\nkind: HierarchyConfig\nmetadata: {name: s}\nspec: {resources: [{kinds: [a]}]}\n",
		"? a\n: b\n", "!!set {a}\n", "a: !x b\n", "%YAML 1.1\n---\na: 1\n", "\ufeffa: 1\n", "--- |\n text\n", "1: a\ntrue: b\n~: c\n",
	} {
		f.Add(seed)
	}
	f.Add("a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c, *c, *c]\n")
	f.Add("a: &a [*a]\n")
	limits := load.DefaultLimits
	limits.DocumentValues, limits.TotalValues = 10_000, 20_000
	f.Fuzz(func(t *testing.T, content string) {
		for _, name := range []string{"namespaces/a/a.yaml", "namespaces/a/a.json", "system/a.yaml", "clusterregistry/a.yaml"} {
			fsys := file("")
			fsys[name] = fsys["cluster/a.yaml"]
			delete(fsys, "cluster/a.yaml")
			fsys[name].Data = []byte(content)
			before := allocated()
			objects, errors := load.Load(fsys, limits)
			if used, limit := allocated()-before, uint64(64<<20+1000*len(content)); used > limit {
				t.Fatalf("%d bytes need %d bytes of memory", len(content), used)
			}
			positioned(t, errors, name)
			if len(errors) > 0 && len(objects) > 0 {
				t.Fatal("objects are loaded although there are errors")
			}
			for _, o := range objects {
				if o.GetName() == "" || o.GetKind() == "" || o.GetAPIVersion() == "" {
					t.Fatalf("an object without an identity is loaded: %v", o.Object)
				}
			}
			compiled, err := repository.Compile(t.Context(), objects, repository.Options{AssumeScopes: true})
			if err != nil {
				t.Fatal(err)
			}
			positioned(t, compiled.Errors, "")
			_ = compiled.Errors.Error()
			if len(objects) == 1 && strings.HasSuffix(name, ".yaml") {
				sameAsKubectl(t, content, objects[0].Object)
			}
		}
	})
}

// allocated returns the size of all allocations so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// positioned checks that each error names a file or a directory: name, unless that is empty.
func positioned(t *testing.T, errors report.Errors, name string) {
	t.Helper()
	for _, e := range errors {
		paths := slices.Clone(e.Paths)
		for _, source := range e.Sources {
			paths = append(paths, source.Path)
		}
		if len(paths) == 0 || slices.Contains(paths, "") {
			t.Fatalf("the error has no position: %+v", e)
		}
		if name != "" && e.Code != report.LimitExceeded && !strings.HasPrefix(paths[0], name) {
			t.Fatalf("the error is not at %s: %+v", name, e)
		}
	}
}

// sameAsKubectl compares an object with what kubectl's parser makes of the same file.
func sameAsKubectl(t *testing.T, content string, got map[string]any) {
	// Documents, lists, and merged and duplicate keys differ on purpose; the parser hides some tags.
	for _, part := range []string{"---", "...", "List", "<<", "!"} {
		if strings.Contains(content, part) {
			return
		}
	}
	data, err := yaml.YAMLToJSON([]byte(content))
	if err != nil {
		return
	}
	var want unstructured.Unstructured
	if want.UnmarshalJSON(data) != nil {
		return
	}
	for _, u := range []map[string]any{want.Object, got} {
		delete(u, "metadata")
		delete(u, "status")
	}
	if !reflect.DeepEqual(want.Object, got) {
		a, _ := json.Marshal(want.Object)
		b, _ := json.Marshal(got)
		t.Errorf("kubectl reads\n%s\nthe loader reads\n%s\nof\n%s", a, b, content)
	}
}
