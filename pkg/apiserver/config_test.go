package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
)

// The filters are in front of the server: requests with tokens wait in places of their own until they are
// authenticated.
func TestRequestsWithTokensAreBounded(t *testing.T) {
	generic := genericapiserver.NewRecommendedConfig(Codecs)
	generic.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	generic.ExternalAddress = "localhost:443"
	waiting, reviewed, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
	slow := func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer slow" }
	generic.Authentication.Authenticator = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		if slow(r) {
			waiting <- struct{}{}
			<-reviewed
		}
		return nil, false, nil
	})
	generic.BuildHandlerChainFunc = func(_ http.Handler, c *genericapiserver.Config) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				_, _, _ = c.Authentication.Authenticator.AuthenticateRequest(r)
			}
			if slow(r) {
				waiting <- struct{}{}
				<-end
			}
		})
	}
	(&Config{Generic: generic}).Complete()
	handler := generic.BuildHandlerChainFunc(http.NotFoundHandler(), &generic.Config)
	request := func(token string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/livez", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		handler.ServeHTTP(w, r)
		return w.Code
	}
	const places = 400
	done := make(chan int, places)
	for range places {
		go func() { done <- request("slow") }()
		<-waiting
	}
	if got := request("other"); got != http.StatusTooManyRequests {
		t.Errorf("a token beside %d that are reviewed: %d", places, got)
	}
	if got := request(""); got != http.StatusOK {
		t.Errorf("a request without a token: %d", got)
	}
	// They are authenticated, and are served.
	close(reviewed)
	for range places {
		<-waiting
	}
	if got := request("other"); got != http.StatusOK {
		t.Errorf("a token beside %d requests that are served: %d", places, got)
	}
	close(end)
	for range places {
		if got := <-done; got != http.StatusOK {
			t.Errorf("got %d", got)
		}
	}
}
