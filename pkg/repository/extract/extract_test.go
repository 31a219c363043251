package extract

import (
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

func namespaceOf(t *testing.T, name string, ancestors ...string) Namespace {
	t.Helper()
	return Namespace{Ancestors: ancestors, Object: parse(t, `{apiVersion: v1, kind: Namespace, spec: {finalizers: [kubernetes]}, status: {phase: Active}, metadata: {name: `+name+`, uid: x,
resourceVersion: "1", managedFields: [{manager: x}], labels: {kubernetes.io/metadata.name: `+name+`, `+name+`.tree.hnc.x-k8s.io/depth: "0", hnc.x-k8s.io/in-tree: "true", env: prod}}}`)}
}

func names(files []hydrate.File) string {
	var all []string
	for _, f := range files {
		all = append(all, strings.TrimPrefix(f.Name, "namespaces/"))
	}
	return strings.Join(all, "\n")
}

// Each line of YAML repeats the indentation of all levels around it.
func TestDeepObjectsAreNamed(t *testing.T) {
	deep := parse(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {namespace: acme, name: deep}}")
	inner := map[string]any{}
	deep.Object["spec"] = inner
	for range 4000 {
		next := map[string]any{}
		inner["a"], inner = next, next
	}
	_, err := Files([]Namespace{namespaceOf(t, "acme")}, []*unstructured.Unstructured{deep})
	if err == nil || err.Error() != "Widget acme/deep: the object is too deep to be written as YAML" {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	namespaces := []Namespace{namespaceOf(t, "acme"), namespaceOf(t, "team", "acme"), namespaceOf(t, "app", "team", "acme"), namespaceOf(t, "solo")}
	objects := []*unstructured.Unstructured{}
	add := func(kind, namespace, name, metadata string) {
		objects = append(objects, parse(t, "{apiVersion: v1, kind: "+kind+", metadata: {namespace: "+namespace+", name: "+name+", uid: x, resourceVersion: '1'"+metadata+"}}"))
	}
	copied := func(from string) string { return ", labels: {hnc.x-k8s.io/inherited-from: " + from + "}" }
	// All descendants inherit it.
	add("Secret", "acme", "everywhere", "")
	add("Secret", "team", "everywhere", copied("acme"))
	add("Secret", "app", "everywhere", copied("acme"))
	// An exception leaves one out.
	add("Secret", "acme", "some", ", annotations: {propagate.hnc.x-k8s.io/select: app, kubectl.kubernetes.io/last-applied-configuration: x}")
	add("Secret", "app", "some", copied("acme"))
	// Nobody inherits it.
	add("ConfigMap", "team", "own", "")
	// Somebody else's of the same name is not a copy.
	add("ConfigMap", "app", "own", "")
	add("ConfigMap", "solo", "Upper:Case", ", labels: {hnc.x-k8s.io/repository-sync: x, a: b}")
	// In a repository, these annotations would decide how the object is treated.
	add("ConfigMap", "solo", "upper_case", ", annotations: {config.kubernetes.io/local-config: 'true', client.lifecycle.config.k8s.io/mutation: ignore, "+
		"client.lifecycle.config.k8s.io/deletion: detach, configmanagement.gke.io/managed: disabled}")
	add("ConfigMap", "solo", "kube-root-ca.crt", "")
	add("ConfigMap", "solo", "owned", ", ownerReferences: [{kind: X, name: x}]")
	add("ResourceQuota", "solo", "hrq.hnc.x-k8s.io", ", labels: {hnc.x-k8s.io/hrq: 'true'}")
	add("ConfigMap", "kube-system", "elsewhere", "")
	token := parse(t, "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {namespace: solo, name: token}}")
	files, err := Files(namespaces, append(objects, token))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(`
acme/acme/namespace.yaml
acme/acme/secret_some.yaml
acme/secret_everywhere.yaml
acme/team/app/configmap_own.yaml
acme/team/app/namespace.yaml
acme/team/app/secret_some.yaml
acme/team/team/configmap_own.yaml
acme/team/team/namespace.yaml
solo/configmap_upper_case.yaml
solo/configmap_upper_case_2.yaml
solo/namespace.yaml`)
	if got := names(files); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	content := map[string]string{}
	for _, f := range files {
		content[f.Name] = string(f.Content)
	}
	for name, want := range map[string]string{
		"namespaces/solo/configmap_upper_case_2.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: upper_case\n",
		"namespaces/solo/namespace.yaml":              "apiVersion: v1\nkind: Namespace\nmetadata:\n  labels:\n    env: prod\n  name: solo\n",
		"namespaces/acme/secret_everywhere.yaml":      "apiVersion: v1\nkind: Secret\nmetadata:\n  name: everywhere\n",
		"namespaces/acme/acme/secret_some.yaml":       "apiVersion: v1\nkind: Secret\nmetadata:\n  annotations:\n    propagate.hnc.x-k8s.io/select: app\n  name: some\n",
		"namespaces/solo/configmap_upper_case.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    a: b\n  name: Upper:Case\n",
	} {
		if content[name] != want {
			t.Errorf("%s: got\n%s", name, content[name])
		}
	}
}

// TestFilesMeanTheSame compiles the files: every namespace has what it had in the cluster.
func TestFilesMeanTheSame(t *testing.T) {
	namespaces := []Namespace{namespaceOf(t, "acme"), namespaceOf(t, "team", "acme"), namespaceOf(t, "app", "team", "acme")}
	var objects []*unstructured.Unstructured
	for _, o := range []string{"acme/a", "team/a acme", "app/a acme", "acme/b", "app/b acme", "team/c", "app/c team", "app/d"} {
		id, from, _ := strings.Cut(o, " ")
		namespace, name, _ := strings.Cut(id, "/")
		one := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: "+namespace+", name: "+name+"}}")
		if from != "" {
			one.SetLabels(map[string]string{"hnc.x-k8s.io/inherited-from": from})
		}
		objects = append(objects, one)
	}
	files, err := Files(namespaces, objects)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{"system/repo.yaml": {Data: []byte("apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n")}}
	for _, f := range files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Content}
	}
	loaded, errors := load.Load(fsys, load.DefaultLimits)
	result, err := repository.Compile(t.Context(), loaded, repository.Options{AllowSharedNames: true})
	if err != nil || len(errors) > 0 || len(result.Errors) > 0 {
		t.Fatalf("got %v %v", errors, result.Errors)
	}
	var got []string
	for _, o := range result.Objects {
		if o.GetKind() == "ConfigMap" {
			got = append(got, o.GetNamespace()+"/"+o.GetName())
		}
	}
	if all := strings.Join(got, " "); all != "acme/a acme/b app/a app/b app/c app/d team/a team/c" {
		t.Errorf("got %s", all)
	}
}

// TestPartOfATree has the copies of what applies to the part from above, two of them everywhere and one by an
// exception.
func TestPartOfATree(t *testing.T) {
	namespaces := []Namespace{namespaceOf(t, "team"), namespaceOf(t, "app", "team"), namespaceOf(t, "site", "team")}
	var objects []*unstructured.Unstructured
	for _, o := range []string{"team/a acme", "app/a acme", "site/a acme", "app/some acme", "team/own", "app/own team", "site/own team", "team/a-secret other"} {
		id, from, _ := strings.Cut(o, " ")
		namespace, name, _ := strings.Cut(id, "/")
		one := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: "+namespace+", name: "+name+"}}")
		if from != "" {
			one.SetLabels(map[string]string{"hnc.x-k8s.io/inherited-from": from, "app.kubernetes.io/managed-by": "hnc.x-k8s.io"})
		}
		objects = append(objects, one)
	}
	before := objects[0].DeepCopy()
	files, err := Files(namespaces, objects)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(`
team/app/configmap_some.yaml
team/app/namespace.yaml
team/configmap_a.yaml
team/configmap_own.yaml
team/site/namespace.yaml
team/team/configmap_a-secret.yaml
team/team/namespace.yaml`)
	if got := names(files); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, f := range files {
		if strings.Contains(string(f.Content), "hnc.x-k8s.io") {
			t.Errorf("%s:\n%s", f.Name, f.Content)
		}
	}
	if diff := cmp.Diff(before, objects[0]); diff != "" {
		t.Errorf("the object was changed: %s", diff)
	}
}
