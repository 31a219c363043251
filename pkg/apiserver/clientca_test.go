package apiserver

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// authority is what the server knows of the authority of front proxies.
type authority struct {
	dynamiccertificates.CAContentProvider
	known bool
}

func (a *authority) VerifyOptions() (x509.VerifyOptions, bool) { return x509.VerifyOptions{}, a.known }

// Without the authority of kube-apiserver's requests, every user would be anonymous: requests of the API are answered
// by 503, with what to do.
func TestRequestsWaitForTheAuthorityOfFrontProxies(t *testing.T) {
	provider := &authority{}
	ca := &clientCA{provider: provider}
	served := 0
	handler := ca.withClientCA(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	get := func() *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/hnc.x-k8s.io/v1beta1/hierarchies", http.NoBody))
		return recorder
	}
	if got := get(); got.Code != http.StatusServiceUnavailable || served != 0 || !strings.Contains(got.Body.String(), "start kube-apiserver with --requestheader-client-ca-file") {
		t.Errorf("got %d %q, %d requests were served", got.Code, got.Body, served)
	}
	if err := ca.Check(nil); err == nil {
		t.Error("the server is ready")
	}
	provider.known = true
	if got := get(); got.Code != http.StatusOK || served != 1 {
		t.Errorf("got %d %q, %d requests were served", got.Code, got.Body, served)
	}
}
