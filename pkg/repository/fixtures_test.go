package repository_test

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// files are the files of a repository, by path.
type files map[string]string

// with returns the files with others added or, where they are empty, removed.
func (f files) with(others files) files {
	result := maps.Clone(f)
	for name, content := range others {
		if content == "" {
			delete(result, name)
		} else {
			result[name] = content
		}
	}
	return result
}

func (f files) fs() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, content := range f {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

// minimal is the smallest valid repository.
var minimal = files{
	"system/repo.yaml": "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n",
}

// small has one namespace in one abstract directory.
var small = minimal.with(files{"namespaces/eng/shop/namespace.yaml": namespace("shop", "")})

// namespace returns a Namespace with more fields of metadata in flow style.
func namespace(name, metadata string) string { return core("Namespace", name, metadata) }

func configMap(name, metadata string) string { return core("ConfigMap", name, metadata) }

func core(kind, name, metadata string) string { return item("v1", kind, name, metadata, "") }

// item returns an object with more fields of metadata, in flow style, and more fields of its own.
func item(apiVersion, kind, name, metadata, fields string) string {
	if metadata != "" {
		metadata = ", " + metadata
	}
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name + metadata + "}\n" + fields
}

func clusterRole(name, metadata string) string {
	return item("rbac.authorization.k8s.io/v1", "ClusterRole", name, metadata, "")
}

func role(name string) string { return item("rbac.authorization.k8s.io/v1", "Role", name, "", "") }

const management = "configmanagement.gke.io/v1"

func namespaceSelector(name, spec string) string {
	return item(management, "NamespaceSelector", name, "", "spec: "+spec+"\n")
}

func clusterSelector(name, spec string) string {
	return item(management, "ClusterSelector", name, "", "spec: "+spec+"\n")
}

func hierarchyConfig(resources string) string {
	return item(management, "HierarchyConfig", "config", "", "spec: {resources: ["+resources+"]}\n")
}

func crd(name, group, scope string) string {
	return item("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "",
		"spec: {group: "+group+", names: {kind: Widget, plural: widgets}, scope: "+scope+"}\n")
}

// annotated returns fields of metadata that set an annotation.
func annotated(key, value string) string { return "annotations: {" + key + ": " + value + "}" }

func labeled(key, value string) string { return "labels: {" + key + ": " + value + "}" }

// compile loads and compiles; errors of the loader are those of the result.
func compile(t *testing.T, f files, options repository.Options) *repository.Result {
	t.Helper()
	objects, errors := load.Load(f.fs(), load.DefaultLimits)
	if len(errors) > 0 {
		return &repository.Result{Errors: errors.Sorted()}
	}
	result, err := repository.Compile(t.Context(), objects, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func codes(errors report.Errors) []string {
	var found []string
	for _, err := range errors {
		found = append(found, string(err.Code))
	}
	return found
}
