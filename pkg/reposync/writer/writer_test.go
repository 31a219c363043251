package writer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster/clustertest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// An object of another UID is not deleted, and must not be reported as deleted.
func TestObjectsOfOthersAreKept(t *testing.T) {
	answer := func(w http.ResponseWriter, code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, metav1.APIVersions{Versions: []string{"v1"}})
	})
	mux.HandleFunc("/apis", func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, metav1.APIGroupList{}) })
	mux.HandleFunc("/api/v1", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"list", "delete"}},
		}})
	})
	mux.HandleFunc("DELETE /api/v1/namespaces/shop/configmaps/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") == "other" {
			answer(w, 409, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonConflict, Code: 409})
			return
		}
		answer(w, 200, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	})
	mux.HandleFunc("GET /api/v1/namespaces/shop/configmaps/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") == "own" {
			answer(w, 404, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: 404})
			return
		}
		answer(w, 200, metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}, ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "another"}})
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	_, c := clustertest.New(t, server.URL)
	id := func(name string) plan.ID {
		return plan.ID{Kind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: "shop", Name: name}
	}
	results := map[string]string{}
	w := &Writer{Cluster: c, Done: func(operation Operation, id plan.ID, _ string, err error) {
		results[id.Name] = string(operation)
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}}
	p := &plan.Plan{Delete: []plan.ID{id("other"), id("own")}}
	w.Prune(t.Context(), p)
	if results["other"] != "delete" || results["own"] != "delete" {
		t.Errorf("without Kept: got %v", results)
	}
	w.Kept = func(id plan.ID, _ error) { results[id.Name] = "kept" }
	w.Prune(t.Context(), p)
	if results["other"] != "kept" || results["own"] != "delete" {
		t.Errorf("with Kept: got %v", results)
	}
}

// Others may have created objects of the kind since the first look.
func TestADefinitionThatHasComeIntoUseStays(t *testing.T) {
	widgets, deleted := "", 0
	answers := map[string]func() string{
		"GET /api": func() string { return `{"versions":[]}` },
		"GET /apis": func() string {
			return `{"groups":[
				{"name":"apiextensions.k8s.io","versions":[{"groupVersion":"apiextensions.k8s.io/v1","version":"v1"}]},
				{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}]}]}`
		},
		"GET /apis/apiextensions.k8s.io/v1": func() string {
			return `{"groupVersion":"apiextensions.k8s.io/v1","resources":[{"name":"customresourcedefinitions","kind":"CustomResourceDefinition","verbs":["list","delete"]}]}`
		},
		"GET /apis/example.com/v1": func() string {
			return `{"groupVersion":"example.com/v1","resources":[{"name":"widgets","kind":"Widget","namespaced":true,"verbs":["list","delete"]}]}`
		},
		"GET /apis/example.com/v1/widgets": func() string {
			return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[` + widgets + `]}`
		},
		"DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com": func() string {
			deleted++
			return `{"kind":"Status","apiVersion":"v1","status":"Success"}`
		},
	}
	mux := http.NewServeMux()
	for pattern, answer := range answers {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(answer()))
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	_, c := clustertest.New(t, server.URL)
	id := plan.ID{Kind: object.CRD, Name: "widgets.example.com"}
	p := &plan.Plan{Delete: []plan.ID{id}}
	var result error
	w := &Writer{Cluster: c, Done: func(_ Operation, _ plan.ID, _ string, err error) { result = err }}
	if kept := w.KeepInUse(t.Context(), p); len(kept) > 0 || len(p.Delete) != 1 {
		t.Fatalf("it is not in use: got %v", kept)
	}
	widgets = `{"metadata":{"namespace":"shop","name":"mine"}}`
	w.Prune(t.Context(), p)
	if deleted > 0 || result == nil || !strings.Contains(result.Error(), "widgets.example.com mine") {
		t.Errorf("it is in use: %d deletions, %v", deleted, result)
	}
	if kept := w.KeepInUse(t.Context(), &plan.Plan{Delete: []plan.ID{id}}); kept[id] == nil {
		t.Error("the first look does not see that it is in use")
	}
	w.DeletesUsed = true
	w.Prune(t.Context(), p)
	if deleted != 1 || result != nil {
		t.Errorf("what is in use may be deleted: %d deletions, %v", deleted, result)
	}
}

// An object in a namespace that did not exist a moment ago is applied by one request.
func TestObjectsInNewNamespacesAreNotReadFirst(t *testing.T) {
	const get, apply = "GET", "PATCH without force"
	for name, test := range map[string]struct {
		exists, conflict bool
		want             []string
	}{
		"it is new":                 {want: []string{apply, get, apply}},
		"it exists":                 {exists: true, want: []string{get, apply, get, apply}},
		"another client creates it": {conflict: true, want: []string{get, apply, get, apply}},
	} {
		t.Run(name, func(t *testing.T) {
			var requests []string
			answers := map[string]string{
				"/api":    `{"versions":["v1"]}`,
				"/apis":   `{"groups":[]}`,
				"/api/v1": `{"groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","verbs":["list","delete"]},{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["list","delete"]}]}`,
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				made, code, ofNamespace := r.Method, http.StatusOK, r.URL.Path == "/api/v1/namespaces/shop"
				if r.URL.Query().Get("force") == "false" {
					made = apply
				}
				switch {
				case answers[r.URL.Path] != "":
					_, _ = io.WriteString(w, answers[r.URL.Path])
					return
				case !ofNamespace:
					requests = append(requests, made)
				case made == apply && test.conflict:
					code, test.exists = http.StatusConflict, true
				}
				if made == get && (!ofNamespace || !test.exists) {
					code = http.StatusNotFound
				}
				w.WriteHeader(code)
				_, _ = fmt.Fprintf(w, `{"kind":%q,"apiVersion":"v1","code":%d,"metadata":{"uid":"u","resourceVersion":"5"}}`, map[bool]string{true: "ConfigMap", false: "Status"}[code == http.StatusOK], code)
			}))
			defer server.Close()
			_, c := clustertest.New(t, server.URL)
			w := &Writer{Cluster: c, Done: func(_ Operation, id plan.ID, _ string, err error) {
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}}
			for _, contents := range [][]string{{
				`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop"}}`,
				`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"first"}}`,
			}, {
				// Others may have written to the namespace before the next step.
				`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"later"}}`,
			}} {
				p := &plan.Plan{}
				for _, content := range contents {
					source := &object.Object{}
					if err := source.UnmarshalJSON([]byte(content)); err != nil {
						t.Fatal(err)
					}
					desired, err := plan.Desired(t.Context(), &repository.Result{Objects: []*object.Object{source}}, "policy")
					if err != nil {
						t.Fatal(err)
					}
					p.Apply[desired[0].Phase] = append(p.Apply[desired[0].Phase], desired...)
				}
				w.Apply(t.Context(), p)
			}
			if !slices.Equal(requests, test.want) {
				t.Errorf("got %q, want %q", requests, test.want)
			}
		})
	}
}

// There may be as many late Hierarchies as permissions.
func TestPostponingTakesLinearTime(t *testing.T) {
	const n = 50_000
	late, permissions := make([]*plan.Object, 0, n), make([]*plan.Object, 0, n)
	for i := range n {
		late = append(late, &plan.Object{ID: plan.ID{Kind: plan.HierarchyKind, Namespace: fmt.Sprintf("n%06d", i), Name: "hierarchy"}})
		permissions = append(permissions, &plan.Object{ID: plan.ID{
			Kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}, Namespace: fmt.Sprintf("x%06d", i), Name: "b"}})
	}
	p, applied := &plan.Plan{Late: late}, 0
	p.Apply[plan.PhaseBindings] = permissions
	ended, end := context.WithCancel(t.Context())
	end() // Nothing is written.
	start := time.Now()
	(&Writer{Cluster: &cluster.Cluster{}, Done: func(Operation, plan.ID, string, error) { applied++ }}).Apply(ended, p)
	if took := time.Since(start); took > 8*time.Second || applied > 0 {
		t.Errorf("it took %s to postpone none, and %d are applied", took, applied)
	}
}

// A namespace that the API server does not delete, for example because a tenant has created a sub-namespace there, keeps
// no permissions.
func TestNamespacesThatStayLoseTheirPermissions(t *testing.T) {
	for _, used := range []bool{false, true} {
		c, requests := rbacServer(t, nil, "DELETE /api/v1/namespaces/shop")
		p := &plan.Plan{DeleteNamespaces: []plan.ID{{Kind: object.Namespace, Name: "shop"}}, Granted: []plan.ID{binding}}
		failed := map[plan.ID]bool{}
		w := &Writer{Cluster: c, DeletesUsed: used, Done: func(_ Operation, id plan.ID, _ string, err error) { failed[id] = err != nil }}
		if kept := w.KeepInUse(t.Context(), p); len(kept) > 0 {
			t.Fatal(kept)
		}
		w.Prune(t.Context(), p)
		if failed[binding] || !failed[p.DeleteNamespaces[0]] || !slices.Contains(*requests, "DELETE "+bindingPath) {
			t.Errorf("deletes used ones: %t: got %v after %q", used, failed, *requests)
		}
	}
	// Where one stays, the namespace stays.
	c, requests := rbacServer(t, nil, "DELETE "+bindingPath)
	(&Writer{Cluster: c, DeletesUsed: true, Done: func(Operation, plan.ID, string, error) {}}).
		Prune(t.Context(), &plan.Plan{DeleteNamespaces: []plan.ID{{Kind: object.Namespace, Name: "shop"}}, Granted: []plan.ID{binding}})
	if slices.Contains(*requests, "DELETE /api/v1/namespaces/shop") {
		t.Errorf("the namespace is deleted before what is granted there: %q", *requests)
	}
}

// What a commit takes from a RoleBinding does not stay because the rest of it is rejected.
func TestRejectedPermissionsAreReduced(t *testing.T) {
	desired := readersFor(t, "bob", "eve")
	for _, narrow := range []bool{true, false} {
		var subjects []string
		var result error
		c, _ := rbacServer(t, func(body string) bool {
			if strings.Contains(body, "roleRef") {
				subjects = append(subjects, strings.Join(regexp.MustCompile(`"(ann|bob|eve)"`).FindAllString(body, -1), ""))
			}
			return narrow && !strings.Contains(body, "eve")
		}, "DELETE "+bindingPath)
		p := &plan.Plan{}
		p.Apply[plan.PhaseBindings] = desired
		(&Writer{Cluster: c, Done: func(_ Operation, _ plan.ID, _ string, err error) { result = err }}).Apply(t.Context(), p)
		if fmt.Sprintf("%q", subjects) != `["\"bob\"\"eve\"" "\"bob\""]` || result == nil || strings.Contains(result.Error(), "is not taken away") == narrow {
			t.Errorf("got the subjects %q and %v", subjects, result)
		}
	}
}

// So are permissions in the whole cluster, but for rules that a controller writes.
func TestRejectedPermissionsOfTheClusterAreReduced(t *testing.T) {
	for name, row := range map[string]struct{ live, wanted, want string }{
		"a binding":  {`"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"User","name":"ann"},{"kind":"User","name":"bob"}]`, `"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"User","name":"bob"},{"kind":"User","name":"eve"}]`, `["\"bob\" \"eve\"" "\"bob\""]`},
		"a role":     {`"rules":[{"verbs":["ann","bob"],"nonResourceURLs":["/"]}]`, `"rules":[{"verbs":["bob","eve"],"nonResourceURLs":["/"]}]`, `["\"bob\" \"eve\"" "\"bob\""]`},
		"aggregated": {`"rules":[{"verbs":["ann"],"nonResourceURLs":["/"]}]`, `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"eve"}}]}`, `["\"eve\""]`},
	} {
		t.Run(name, func(t *testing.T) {
			kind := "ClusterRole"
			if strings.Contains(row.live, "subjects") {
				kind = "ClusterRoleBinding"
			}
			content := func(fields string) map[string]any {
				o := map[string]any{}
				if err := json.Unmarshal([]byte(`{"kind":"`+kind+`","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"readers","uid":"u","resourceVersion":"5",
					"labels":{"hnc.x-k8s.io/repository-sync":"policy"},"managedFields":[{"manager":"hns-sync-policy","operation":"Apply","fieldsV1":{}}]},`+fields+`}`), &o); err != nil {
					t.Fatal(err)
				}
				return o
			}
			var granted []string
			path := "/apis/rbac.authorization.k8s.io/v1/" + strings.ToLower(kind) + "s/readers"
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				body, _ := io.ReadAll(r.Body)
				var answer any = content(row.live)
				switch {
				case r.Method == http.MethodPatch:
					granted = append(granted, strings.Join(regexp.MustCompile(`"(ann|bob|eve)"`).FindAllString(string(body), -1), " "))
					if strings.Contains(string(body), "eve") {
						w.WriteHeader(http.StatusForbidden)
						answer = metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: 403}
					}
				case r.URL.Path == "/api":
					answer = metav1.APIVersions{}
				case r.URL.Path == "/apis":
					version := metav1.GroupVersionForDiscovery{GroupVersion: "rbac.authorization.k8s.io/v1", Version: "v1"}
					answer = metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "rbac.authorization.k8s.io", Versions: []metav1.GroupVersionForDiscovery{version}}}}
				case r.URL.Path != path:
					answer = metav1.APIResourceList{GroupVersion: "rbac.authorization.k8s.io/v1", APIResources: []metav1.APIResource{{Name: strings.ToLower(kind) + "s", Kind: kind, Verbs: metav1.Verbs{"list", "delete"}}}}
				}
				_ = json.NewEncoder(w).Encode(answer)
			}))
			defer server.Close()
			_, c := clustertest.New(t, server.URL)
			source := &object.Object{}
			source.Object = content(row.wanted)
			desired, err := plan.Desired(t.Context(), &repository.Result{Objects: []*object.Object{source}}, "policy")
			if err != nil {
				t.Fatal(err)
			}
			p := &plan.Plan{}
			p.Apply[desired[0].Phase] = desired
			(&Writer{Cluster: c, Done: func(_ Operation, _ plan.ID, _ string, err error) {
				if err == nil {
					t.Error("it is not reported")
				}
			}}).Apply(t.Context(), p)
			if fmt.Sprintf("%q", granted) != row.want {
				t.Errorf("got %q, want %s", granted, row.want)
			}
		})
	}
}

// It may be its labels that a policy rejects, for example.
func TestRejectedPermissionsThatOnlyLoseAreReduced(t *testing.T) {
	var result error
	c, requests := rbacServer(t, func(string) bool { return false })
	p := &plan.Plan{}
	p.Apply[plan.PhaseBindings] = readersFor(t, "bob")
	(&Writer{Cluster: c, Done: func(_ Operation, _ plan.ID, _ string, err error) { result = err }}).Apply(t.Context(), p)
	if result == nil || !slices.Contains(*requests, "DELETE "+bindingPath) {
		t.Errorf("got %v after %q", result, *requests)
	}
}

// readersFor returns binding as the repository wants it, with these users.
func readersFor(t *testing.T, users ...string) []*plan.Object {
	t.Helper()
	var subjects []any
	for _, user := range users {
		subjects = append(subjects, map[string]any{"kind": "User", "name": user})
	}
	source := &object.Object{}
	source.Object = map[string]any{
		"kind": "RoleBinding", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": map[string]any{"namespace": "shop", "name": "readers"},
		"roleRef": map[string]any{"kind": "ClusterRole", "name": "edit"}, "subjects": subjects,
	}
	desired, err := plan.Desired(t.Context(), &repository.Result{Objects: []*object.Object{source}}, "policy")
	if err != nil {
		t.Fatal(err)
	}
	return desired
}

// binding is a RoleBinding of the repository.
var binding = plan.ID{Kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}, Namespace: "shop", Name: "readers"}

const bindingPath = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/readers"

// rbacServer returns a cluster with a RoleBinding for ann and bob, and its requests. It accepts the patches that a function
// does, and all other requests but the denied ones.
func rbacServer(t *testing.T, accepts func(body string) bool, denied ...string) (*cluster.Cluster, *[]string) {
	t.Helper()
	const readers = `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"namespace":"shop","name":"readers","uid":"u","resourceVersion":"5",
		"labels":{"hnc.x-k8s.io/repository-sync":"policy"},"managedFields":[{"manager":"hns-sync-policy","operation":"Apply","fieldsV1":{}}]},
		"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"User","name":"ann"},{"kind":"User","name":"bob"}]}`
	answers := map[string]string{
		"GET /api":                               `{"versions":["v1"]}`,
		"GET /apis":                              `{"groups":[{"name":"rbac.authorization.k8s.io","versions":[{"groupVersion":"rbac.authorization.k8s.io/v1","version":"v1"}]}]}`,
		"GET /api/v1":                            `{"groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","verbs":["list","delete"]}]}`,
		"GET /apis/rbac.authorization.k8s.io/v1": `{"groupVersion":"rbac.authorization.k8s.io/v1","resources":[{"name":"rolebindings","kind":"RoleBinding","namespaced":true,"verbs":["list","delete"]}]}`,
		"GET " + bindingPath:                     readers,
		"PATCH " + bindingPath:                   readers,
	}
	var requests []string
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		made := r.Method + " " + r.URL.Path
		requests = append(requests, made)
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		answer, ok := answers[made]
		gone := r.Method == http.MethodGet && slices.Contains(requests, "DELETE "+r.URL.Path) && !slices.Contains(denied, "DELETE "+r.URL.Path)
		switch {
		case slices.Contains(denied, made) || r.Method == http.MethodPatch && !accepts(string(body)):
			w.WriteHeader(http.StatusForbidden)
			answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"denied"}`
		case gone:
			w.WriteHeader(http.StatusNotFound)
			answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
		case r.Method == http.MethodDelete:
			answer = `{"kind":"Status","apiVersion":"v1","status":"Success"}`
		case !ok:
			answer = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	_, c := clustertest.New(t, server.URL)
	return c, &requests
}
