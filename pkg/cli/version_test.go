package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// kube-apiserver serves a new API before its OpenAPI.
func TestVersionWaitsForTheOpenAPIOfAnAPIThatIsServed(t *testing.T) {
	for name, served := range map[string]bool{"served": true, "not installed": false} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch r.URL.Path {
				case "/apis/hnc.x-k8s.io/v1beta1":
					if served {
						_, _ = w.Write([]byte(`{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "hnc.x-k8s.io/v1beta1"}`))
						return
					}
				case "/openapi/v3/apis/hnc.x-k8s.io/v1beta1":
					if asked++; asked > 2 {
						_, _ = w.Write([]byte(`{"info": {}}`))
						return
					}
				}
				http.NotFound(w, r)
			}))
			defer server.Close()
			text, err := readOpenAPI(t.Context(), discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: server.URL}))
			if served && (err != nil || string(text) != `{"info": {}}`) {
				t.Errorf("got %s, %v", text, err)
			}
			if !served && (!apierrors.IsNotFound(err) || asked != 1) {
				t.Errorf("asked %d times: %v", asked, err)
			}
		})
	}
}
