package kindscope_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

func TestBuiltInKinds(t *testing.T) {
	for kind, want := range map[schema.GroupKind]bool{
		{Kind: "Namespace"}:                 false,
		{Kind: "Secret"}:                    true,
		{Group: "apps", Kind: "Deployment"}: true,
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:         false,
		{Group: "apiregistration.k8s.io", Kind: "APIService"}:             false,
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: false,
		{Group: "hnc.x-k8s.io", Kind: "Hierarchy"}:                        true,
		{Group: "configmanagement.gke.io", Kind: "Repo"}:                  false,
	} {
		if namespaced, ok := kindscope.BuiltIn().Namespaced(kind); !ok || namespaced != want {
			t.Errorf("%s: got %t, %t", kind, namespaced, ok)
		}
	}
	if _, ok := kindscope.BuiltIn().Namespaced(schema.GroupKind{Group: "example.com", Kind: "Secret"}); ok {
		t.Error("a kind of another group is known")
	}
}

func TestKindsFile(t *testing.T) {
	const header = "NAME     SHORTNAMES   APIVERSION       NAMESPACED   KIND\n"
	for name, c := range map[string]struct {
		file fstest.MapFile
		want string
	}{
		"a pipe":             {fstest.MapFile{Mode: fs.ModeNamedPipe}, "not a regular file"},
		"a directory":        {fstest.MapFile{Mode: fs.ModeDir}, "not a regular file"},
		"empty":              {fstest.MapFile{}, "empty"},
		"no header":          {fstest.MapFile{Data: []byte("pods po v1 true Pod\n")}, "first line"},
		"a line that is cut": {fstest.MapFile{Data: []byte(header + "pods     po           v1               true\n")}, "line 2"},
		"a line without end": {fstest.MapFile{Data: []byte(header + strings.Repeat("x", 1<<20))}, "too long"},
	} {
		_, problem := kindscope.FromFile(fstest.MapFS{kindscope.FileName: &c.file})
		if problem == nil || problem.Code != report.InvalidKindsFile || !strings.Contains(problem.Message, c.want) {
			t.Errorf("%s: want an error about %q, got %v", name, c.want, problem)
		}
	}
	table, problem := kindscope.FromFile(fstest.MapFS{kindscope.FileName: {Data: []byte(header +
		"pods     po           v1               true         Pod\nwidgets  w,wi         example.com/v1   false        Widget\n\n")}})
	if problem != nil {
		t.Fatal(problem)
	}
	if len(table) != 2 || !table[schema.GroupKind{Kind: "Pod"}] || table[schema.GroupKind{Group: "example.com", Kind: "Widget"}] {
		t.Errorf("got %v", table)
	}
	if table, problem := kindscope.FromFile(os.DirFS(t.TempDir())); table != nil || problem != nil {
		t.Errorf("without a file: got %v, %v", table, problem)
	}
}
