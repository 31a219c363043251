package reposync

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster/clustertest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// TestUnlabeledObjectsAreCreatedAgain has an object that is never updated, and that somebody else had created: no watch
// shows its deletion.
func TestUnlabeledObjectsAreCreatedAgain(t *testing.T) {
	exists, created, now := true, 0, time.Unix(1, 0)
	answer := func(w http.ResponseWriter, code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	found := metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "policy", UID: "u", ResourceVersion: "5"},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, metav1.APIVersions{Versions: []string{"v1"}})
	})
	mux.HandleFunc("/apis", func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, metav1.APIGroupList{}) })
	mux.HandleFunc("/api/v1", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"list", "get", "patch"}},
		}})
	})
	mux.HandleFunc("GET /api/v1/namespaces/shop/configmaps/policy", func(w http.ResponseWriter, _ *http.Request) {
		if !exists {
			answer(w, 404, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: 404})
			return
		}
		answer(w, 200, found)
	})
	mux.HandleFunc("PATCH /api/v1/namespaces/shop/configmaps/policy", func(w http.ResponseWriter, _ *http.Request) {
		created++
		answer(w, 201, found)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	_, c := clustertest.New(t, server.URL)

	root := t.TempDir()
	repo, err := gogit.PlainInit(root+"/policy", false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	head, err := tree.Commit("test", &gogit.CommitOptions{AllowEmptyCommits: true, Author: &gitobject.Signature{Name: "test", When: time.Now()}})
	if err != nil {
		t.Fatal(err)
	}
	ignored := unstructured.Unstructured{Object: map[string]any{}}
	ignored.SetAPIVersion("v1")
	ignored.SetKind("ConfigMap")
	ignored.SetNamespace("shop")
	ignored.SetName("policy")
	ignored.SetAnnotations(map[string]string{object.AnnotationMutation: object.MutationIgnore})
	result := &repository.Result{Objects: []*object.Object{{Unstructured: ignored, Path: "namespaces/shop/policy.yaml"}}}
	desired, err := plan.Desired(t.Context(), result, "policy")
	if err != nil {
		t.Fatal(err)
	}
	s := &v1alpha3.RepositorySync{Spec: v1alpha3.RepositorySyncSpec{Source: v1alpha3.RepositorySource{URL: "file://" + root + "/policy"}}}
	w := &worker{
		manager: &Manager{Config: Config{Metrics: NewMetrics(func(...metrics.Registerable) {})}, now: func() time.Time { return now }}, sync: s, cluster: c, completed: now,
		source:  &source{reader: &git.Reader{LocalRoot: root}, spec: &s.Spec, head: head.String()},
		current: &revision{commit: head.String()}, result: result, desired: desired, fights: plan.NewFights(), rejections: plan.NewRejections(),
	}
	poll := func(after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		if done := w.synchronize(t.Context(), true); done.reason != hnc.ReasonSynced {
			t.Fatalf("%s: %s", done.reason, done.message)
		}
		if created != want {
			t.Errorf("it is created %d times, want %d", created, want)
		}
	}
	poll(0, 0)
	exists = false
	poll(maxRetry-1, 0)
	poll(1, 1)
}

// A tenant decides how long it takes to find out whether a namespace is in use, and perhaps whether kinds are known.
func TestPermissionsAreRevokedFirst(t *testing.T) {
	const grants, maps = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings", "/api/v1/namespaces/shop/configmaps"
	item := func(kind, metadata string) string {
		return `{"metadata":{` + metadata + `,"uid":"` + kind + `","resourceVersion":"5","labels":{"hnc.x-k8s.io/repository-sync":"policy"},
			"managedFields":[{"manager":"hns-sync-policy","operation":"Apply","fieldsV1":{}}]}}`
	}
	answers := map[string]string{
		"/api":                               `{"versions":["v1"]}`,
		"/apis":                              `{"groups":[{"name":"rbac.authorization.k8s.io","versions":[{"groupVersion":"rbac.authorization.k8s.io/v1","version":"v1"}]}]}`,
		"/api/v1":                            `{"groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","verbs":["list","delete"]},{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["list","delete"]}]}`,
		"/apis/rbac.authorization.k8s.io/v1": `{"groupVersion":"rbac.authorization.k8s.io/v1","resources":[{"name":"rolebindings","kind":"RoleBinding","namespaced":true,"verbs":["list","delete"]}]}`,
		"/api/v1/namespaces":                 item("n", `"name":"shop"`),
		"/apis/rbac.authorization.k8s.io/v1/rolebindings": item("b", `"namespace":"shop","name":"readers"`),
		maps: `{"metadata":{"namespace":"shop","name":"mine"}}`,
	}
	for name, test := range map[string]struct {
		errors report.Errors
		want   []string
	}{
		"the namespace is in use": {nil, []string{"DELETE " + grants + "/readers", "GET " + grants + "/readers", "GET " + maps}},
		"a kind is unknown":       {report.Errors{{Code: report.UnknownKind}}, []string{"DELETE " + grants + "/readers", "GET " + grants + "/readers"}},
	} {
		var requests []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			answer, ok := answers[r.URL.Path]
			if strings.HasPrefix(r.URL.Path, grants+"/") || r.URL.Path == maps {
				requests = append(requests, r.Method+" "+r.URL.Path)
			}
			switch {
			case r.Method == http.MethodDelete:
				answer = `{"kind":"Status","apiVersion":"v1","status":"Success"}`
			case strings.HasPrefix(r.URL.Path, grants+"/"):
				w.WriteHeader(http.StatusNotFound)
				answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
			case !ok || strings.HasPrefix(answer, `{"metadata"`):
				answer = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[` + answer + `]}`
			}
			_, _ = w.Write([]byte(answer))
		}))
		_, c := clustertest.New(t, server.URL)
		if failed := c.List(t.Context(), c.Kinds()); len(failed) > 0 {
			t.Fatal(failed)
		}
		w := &worker{
			manager: &Manager{Config: Config{Metrics: NewMetrics(func(...metrics.Registerable) {})}, now: time.Now}, cluster: c, source: &source{}, current: &revision{},
			sync: &v1alpha3.RepositorySync{Spec: v1alpha3.RepositorySyncSpec{Prune: true}}, result: &repository.Result{Errors: test.errors}, fights: plan.NewFights(), rejections: plan.NewRejections(),
		}
		w.apply(t.Context(), &outcome{})
		if !slices.Equal(requests, test.want) {
			t.Errorf("%s: got %q, want %q", name, requests, test.want)
		}
		server.Close()
	}
}

// Corrections and revocations come after definitions.
func TestKindsThatAreNeverServedAreAwaitedOnce(t *testing.T) {
	var discoveries atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			discoveries.Add(1)
			_, _ = w.Write([]byte(`{"versions":[]}`))
		case "/apis":
			_, _ = w.Write([]byte(`{"groups":[]}`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	_, c := clustertest.New(t, server.URL)
	widget := unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "shop", "name": "a"}}}
	result := &repository.Result{Objects: []*object.Object{{Unstructured: widget}}}
	desired, err := plan.Desired(t.Context(), result, "policy")
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{
		manager: &Manager{Config: Config{Metrics: NewMetrics(func(...metrics.Registerable) {})}, now: time.Now}, cluster: c, source: &source{}, current: &revision{},
		sync: &v1alpha3.RepositorySync{}, result: result, desired: desired, fights: plan.NewFights(), rejections: plan.NewRejections(),
	}
	apply := func(limit time.Duration) (interrupted bool) {
		discoveries.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		done := &outcome{}
		w.apply(ctx, done)
		if len(done.failed) != 1 && ctx.Err() == nil {
			t.Errorf("got %v", done.failed)
		}
		return ctx.Err() != nil
	}
	for range 2 {
		if !apply(time.Second) {
			t.Error("it does not wait")
		}
		if apply(established/2) || discoveries.Load() != 1 {
			t.Errorf("it waits again, and reads the kinds %d times", discoveries.Load())
		}
		w.current = &revision{}
	}
}
