package preview

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster/clustertest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// An update that is invalid, because the object is immutable, is previewed as it is made.
func TestImmutableObjectsAreChanged(t *testing.T) {
	content := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "shop", "name": "policy"},
	}}
	creation := metav1.StatusReasonAlreadyExists
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var body any
		switch {
		case r.URL.Path == "/api":
			body = metav1.APIVersions{Versions: []string{"v1"}}
		case r.URL.Path == "/apis":
			body = metav1.APIGroupList{}
		case r.URL.Path == "/api/v1":
			body = metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
				{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"list", "get", "patch"}},
			}}
		case r.Method == http.MethodGet:
			body = content.Object
		case r.URL.Query().Get("dryRun") != metav1.DryRunAll:
			t.Errorf("%s %s stores something", r.Method, r.URL)
		default:
			status := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: 422}
			if r.Method == http.MethodPost {
				status.Reason = creation
			}
			w.WriteHeader(int(status.Code))
			body = status
		}
		_ = json.NewEncoder(w).Encode(body)
	}))
	defer server.Close()
	config, c := clustertest.New(t, server.URL)
	previewer, err := New(config, c, "policy")
	if err != nil {
		t.Fatal(err)
	}
	desired, err := plan.Desired(t.Context(), &repository.Result{Objects: []*object.Object{{Unstructured: content}}}, "policy")
	if err != nil {
		t.Fatal(err)
	}
	if change, _, err := previewer.Compare(t.Context(), desired[0]); change != changes.Changed || err != nil {
		t.Errorf("got %q, %v", change, err)
	}
	creation = metav1.StatusReasonInvalid
	if _, _, err := previewer.Compare(t.Context(), desired[0]); !apierrors.IsInvalid(err) {
		t.Errorf("an object that cannot be created, either: got %v", err)
	}
}
