package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// A command that lasts learns of a CustomResourceDefinition that is newer than it.
func TestResourcesAreDiscoveredAgainAtMostOnceAMinute(t *testing.T) {
	var added atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]any{"/api": metav1.APIVersions{Versions: []string{"v1"}}, "/apis": metav1.APIGroupList{}}
		list := metav1.APIResourceList{GroupVersion: "v1"}
		if added.Load() {
			list.APIResources = []metav1.APIResource{{Name: "widgets", SingularName: "widget", Kind: "Widget", Namespaced: true, Verbs: metav1.Verbs{"list"}}}
		}
		answers["/api/v1"] = list
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[r.URL.Path])
	}))
	defer server.Close()
	f := NewFactory(io.Discard)
	f.Flags.APIServer, f.Flags.CacheDir = ptr.To(server.URL), ptr.To(t.TempDir())
	for range 2 {
		if _, err := f.Mapping("widgets"); err == nil {
			t.Fatal("there is a mapping of a resource that does not exist")
		}
	}
	added.Store(true)
	if _, err := f.Mapping("widgets"); err == nil {
		t.Error("the resources are discovered with every request")
	}
	f.discovery.at = time.Now().Add(-2 * discoveryPeriod)
	if _, err := f.Mapping("widgets"); err != nil {
		t.Error(err)
	}
}
