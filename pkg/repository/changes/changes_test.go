package changes_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// compiled returns a compiled repository. The paths end in the name of a ConfigMap, or of a Namespace if that is the
// directory's.
func compiled(t *testing.T, paths ...string) *repository.Result {
	t.Helper()
	fsys := fstest.MapFS{"system/repo.yaml": {Data: []byte("apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n")}}
	for _, path := range paths {
		parts := strings.Split(path, "/")
		name, content, _ := strings.Cut(parts[len(parts)-1], "=")
		kind := "ConfigMap"
		if len(parts) > 1 && parts[len(parts)-2] == name {
			kind = "Namespace"
		}
		fsys["namespaces/"+strings.Join(parts[:len(parts)-1], "/")+"/"+name+".yaml"] = &fstest.MapFile{
			Data: fmt.Appendf(nil, "apiVersion: v1\nkind: %s\nmetadata: {name: %s, annotations: {content: '%s'}}\n", kind, name, content),
		}
	}
	objects, errors := load.Load(fsys, load.DefaultLimits)
	if len(errors) > 0 {
		t.Fatal(errors)
	}
	result, err := repository.Compile(t.Context(), objects, repository.Options{})
	if err != nil || len(result.Errors) > 0 {
		t.Fatal(err, result)
	}
	return result
}

// TestChanges has the table of changes of docs/spec/config-sync.md 7.
func TestChanges(t *testing.T) {
	before := []string{"eng/policy", "eng/shop/shop", "eng/shop/own", "eng/search/search", "ops/site/site"}
	for name, c := range map[string]struct {
		after []string
		want  string
	}{
		"nothing": {before, ""},
		"add a namespace": {
			append([]string{"eng/new/new"}, before...),
			"+ namespace new in namespaces/eng\n+ new ConfigMap/policy (namespaces/eng/policy.yaml)\n",
		},
		"delete a namespace": {
			[]string{"eng/policy", "eng/search/search", "ops/site/site"},
			"- namespace shop from namespaces/eng\n- shop ConfigMap/own (namespaces/eng/shop/own.yaml)\n- shop ConfigMap/policy (namespaces/eng/policy.yaml)\n",
		},
		"delete an abstract directory": {
			[]string{"ops/site/site"},
			"- namespace search from namespaces/eng\n- namespace shop from namespaces/eng\n- search ConfigMap/policy (namespaces/eng/policy.yaml)\n" +
				"- shop ConfigMap/own (namespaces/eng/shop/own.yaml)\n- shop ConfigMap/policy (namespaces/eng/policy.yaml)\n",
		},
		"rename an abstract directory": {
			[]string{"tech/policy", "tech/shop/shop", "tech/shop/own", "tech/search/search", "ops/site/site"},
			"> namespace search from namespaces/eng to namespaces/tech; it loses the labels eng.tree.hnc.x-k8s.io/depth; it gains the labels tech.tree.hnc.x-k8s.io/depth\n" +
				"> namespace shop from namespaces/eng to namespaces/tech; it loses the labels eng.tree.hnc.x-k8s.io/depth; it gains the labels tech.tree.hnc.x-k8s.io/depth\n",
		},
		"move a namespace": {
			[]string{"eng/policy", "ops/shop/shop", "ops/shop/own", "eng/search/search", "ops/site/site"},
			"> namespace shop from namespaces/eng to namespaces/ops; it loses the labels eng.tree.hnc.x-k8s.io/depth; it gains the labels ops.tree.hnc.x-k8s.io/depth\n" +
				"- shop ConfigMap/policy (namespaces/eng/policy.yaml)\n",
		},
		"make a namespace abstract": {
			[]string{"eng/policy", "eng/shop/front/front", "eng/search/search", "ops/site/site"},
			"+ namespace front in namespaces/eng/shop\n- namespace shop from namespaces/eng\n+ front ConfigMap/policy (namespaces/eng/policy.yaml)\n" +
				"- shop ConfigMap/own (namespaces/eng/shop/own.yaml)\n- shop ConfigMap/policy (namespaces/eng/policy.yaml)\n",
		},
		"change a policy": {
			append([]string{"eng/policy=new"}, before[1:]...),
			"~ search ConfigMap/policy (namespaces/eng/policy.yaml)\n~ shop ConfigMap/policy (namespaces/eng/policy.yaml)\n",
		},
		"change a Namespace": {
			append([]string{"ops/site/site=new"}, before[:4]...),
			"~ namespace site\n",
		},
		"move a file": {
			[]string{"eng/policy", "eng/shop/shop", "eng/shop/own", "eng/search/search", "ops/site/site"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, changes.Between(compiled(t, before...), compiled(t, c.after...)).Text()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUnsafeChanges(t *testing.T) {
	four := []string{"a/a", "b/b", "c/c", "d/d"}
	for name, c := range map[string]struct {
		before, after []string
		allow         bool
		want          report.Code
	}{
		"all of two":              {four[:2], nil, false, report.EmptyRepository},
		"all of two, allowed":     {four[:2], nil, true, report.EmptyRepository},
		"the last one":            {four[:1], nil, false, ""},
		"half":                    {four, four[:2], false, ""},
		"more than half":          {four, four[:1], false, report.MassDeletion},
		"more than half, allowed": {four, four[:1], true, ""},
		"half, and others come":   {four[:2], []string{"b/b", "e/e"}, false, ""},
		"all, and others come":    {four[:2], []string{"e/e", "f/f"}, false, report.MassDeletion},
		"moved ones stay":         {four, []string{"x/a/a", "x/b/b", "x/c/c"}, false, ""},
		"those that are detached": {[]string{"default/default", "kube-system/kube-system", "a/a"}, []string{"a/a"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			errors := changes.Unsafe(compiled(t, c.before...), compiled(t, c.after...), c.allow)
			if c.want == "" && len(errors) > 0 || c.want != "" && (len(errors) != 1 || errors[0].Code != c.want) {
				t.Errorf("want %q, got %v", c.want, errors)
			}
		})
	}
}
