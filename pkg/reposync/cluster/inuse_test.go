package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// A namespace that has just got a parent has no label of the tree yet, and nothing else tells that it is below.
func TestANamespaceWithAChildThatHasNoLabelIsInUse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := ""
		if r.URL.Path == "/apis/hnc.x-k8s.io/v1beta1/hierarchies" && r.URL.Query().Get("fieldSelector") == "spec.parent=n" {
			items = `{"metadata":{"namespace":"child","name":"hierarchy"}}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[` + items + `]}`))
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	c, err := New(config, config, "policy", func() {})
	if err != nil {
		t.Fatal(err)
	}
	c.found = &kinds{namespaced: []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"}, {Group: "hnc.x-k8s.io", Version: "v1beta1", Resource: "hierarchies"},
	}}
	for namespace, want := range map[string]string{"n": "namespace child below it", "m": ""} {
		if got, err := c.InUse(t.Context(), namespace); err != nil || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q and %v", namespace, got, err)
		}
	}
}
