package cluster

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
)

// A namespace that has just got a parent has no label of the tree yet, and nothing else tells that it is below.
func TestANamespaceWithAChildThatHasNoLabelIsInUse(t *testing.T) {
	c := serving(t, "policy", func(w http.ResponseWriter, r *http.Request) {
		items := ""
		if r.URL.Path == "/apis/hnc.x-k8s.io/v1beta1/hierarchies" && r.URL.Query().Get("fieldSelector") == "spec.parent=n" {
			items = `{"metadata":{"namespace":"child","name":"hierarchy"}}`
		}
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[` + items + `]}`))
	})
	c.found = &kinds{namespaced: []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"}, {Group: "hnc.x-k8s.io", Version: "v1beta1", Resource: "hierarchies"},
	}}
	for namespace, want := range map[string]string{"n": "namespace child below it", "m": ""} {
		if got, err := c.InUse(t.Context(), namespace); err != nil || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q and %v", namespace, got, err)
		}
	}
}

// Who owns an object in the namespace counts instead of it, except owners that never count. Nothing is deleted with owners
// that are elsewhere.
func TestObjectsOfOwnersInTheNamespaceAreNoUse(t *testing.T) {
	owners := map[string]string{
		"in":      `{"apiVersion":"apps/v1","kind":"Deployment","name":"o"}`,
		"cluster": `{"apiVersion":"v1","kind":"Node","name":"o"}`,
		"unknown": `{"apiVersion":"example.com/v1","kind":"Gone","name":"o"}`,
		"default": `{"apiVersion":"v1","kind":"ServiceAccount","name":"default"}`,
		"account": `{"apiVersion":"v1","kind":"ServiceAccount","name":"o"}`,
		"old":     `{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"HierarchyConfiguration","name":"hierarchy"}`,
		"missed":  `{"apiVersion":"v1","kind":"Endpoints","name":"o"}`,
		"both":    `{"apiVersion":"v1","kind":"Node","name":"o"},{"apiVersion":"apps/v1","kind":"Deployment","name":"o"}`,
	}
	c := serving(t, "policy", func(w http.ResponseWriter, r *http.Request) {
		items := ""
		if namespace, ok := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/"); ok {
			items = `{"metadata":{"name":"a","ownerReferences":[` + owners[strings.TrimSuffix(namespace, "/configmaps")] + `]}}`
		}
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[` + items + `]}`))
	})
	c.found = &kinds{
		namespaced: []schema.GroupVersionResource{{Version: "v1", Resource: "configmaps"}},
		scopes: kindscope.Table{
			{Group: "apps", Kind: "Deployment"}: true, {Kind: "Node"}: false, {Kind: "ServiceAccount"}: true, {Kind: "Endpoints"}: true,
			{Group: "hnc.x-k8s.io", Kind: "HierarchyConfiguration"}: true,
		},
		byResource: map[schema.GroupResource]schema.GroupKind{
			{Resource: "serviceaccounts"}: {Kind: "ServiceAccount"}, {Resource: "endpoints"}: {Kind: "Endpoints"},
			{Group: "hnc.x-k8s.io", Resource: "hierarchyconfigurations"}: {Group: "hnc.x-k8s.io", Kind: "Hierarchy"},
		},
	}
	for namespace, want := range map[string]string{"in": "", "cluster": "configmaps a", "unknown": "configmaps a", "both": "",
		"default": "configmaps a", "account": "", "old": "configmaps a", "missed": "configmaps a"} {
		if got, err := c.InUse(t.Context(), namespace); err != nil || got != want {
			t.Errorf("%s: got %q and %v, want %q", namespace, got, err, want)
		}
	}
}

func TestDefinitionInUse(t *testing.T) {
	const (
		own       = `"labels":{"hnc.x-k8s.io/repository-sync":"policy"},"managedFields":[{"manager":"hns-sync-policy","operation":"Apply","fieldsV1":{}}]`
		foreign   = `{"metadata":{"namespace":"shop","name":"mine"}}`
		inherited = `{"metadata":{"namespace":"shop","name":"a","labels":{"hnc.x-k8s.io/inherited-from":"acme"}}}`
		ending    = `{"metadata":{"namespace":"shop","name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}}`
	)
	for name, test := range map[string]struct {
		// pages are the answers to lists.
		pages []string
		// served is from which discovery on the kind is served, 0 for never.
		served    int
		code      int
		found     string
		forbidden bool
		err       string
	}{
		"no objects":                {pages: []string{""}, served: 1},
		"one of the repository":     {pages: []string{`{"metadata":{"name":"a",` + own + `}}`}, served: 1},
		"only labeled":              {pages: []string{`{"metadata":{"name":"a","labels":{"hnc.x-k8s.io/repository-sync":"policy"}}}`}, served: 1, found: "widgets.example.com a"},
		"a copy":                    {pages: []string{inherited}, served: 1},
		"one that is being deleted": {pages: []string{ending}, served: 1},
		"one with an owner":         {pages: []string{`{"metadata":{"name":"a","ownerReferences":[{"name":"b"}]}}`}, served: 1, found: "widgets.example.com a"},
		"one of another":            {pages: []string{inherited + "," + foreign}, served: 1, found: "widgets.example.com mine"},
		"one on a later page":       {pages: []string{inherited, foreign}, served: 1, found: "widgets.example.com mine"},
		"as many as are looked at":  {pages: slices.Repeat([]string{inherited}, 50), served: 1},
		"more than are looked at":   {pages: slices.Repeat([]string{inherited}, 51), served: 1, found: "more than 1000 widgets.example.com, of which only the first were looked at"},
		"newer than what is known":  {pages: []string{foreign}, served: 2, found: "widgets.example.com mine"},
		"not served":                {err: "delete the CustomResourceDefinition yourself"},
		"forbidden":                 {served: 1, code: http.StatusForbidden, forbidden: true, err: "cannot list widgets.example.com"},
		"gone":                      {served: 1, code: http.StatusNotFound, err: "cannot list widgets.example.com"},
	} {
		discoveries, lists := 0, 0
		c := serving(t, "policy", func(w http.ResponseWriter, r *http.Request) {
			body := ""
			switch r.URL.Path {
			case "/api":
				body = `{"versions":[]}`
			case "/apis":
				discoveries++
				body = `{"groups":[{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}]}]}`
				if test.served == 0 || discoveries < test.served {
					body = `{"groups":[]}`
				}
			case "/apis/example.com/v1":
				body = `{"groupVersion":"example.com/v1","resources":[{"name":"widgets","kind":"Widget","namespaced":true,"verbs":["list","delete"]}]}`
			case "/apis/example.com/v1/widgets":
				if test.code != 0 {
					w.WriteHeader(test.code)
					break
				}
				next := ""
				if lists < len(test.pages)-1 {
					next = "more"
				}
				body = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"continue":"` + next + `"},"items":[` + test.pages[lists] + `]}`
				lists++
			}
			_, _ = w.Write([]byte(body))
		})
		if err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		found, err := c.DefinitionInUse(t.Context(), "widgets.example.com")
		if found != test.found || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) || apierrors.IsForbidden(err) != test.forbidden {
			t.Errorf("%s: got %q and %v", name, found, err)
		}
	}
}
