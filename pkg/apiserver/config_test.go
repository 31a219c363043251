package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
)

// The filters are in front of the server: requests with tokens wait in places of their own until they are authenticated.
func TestRequestsWithTokensAreBounded(t *testing.T) {
	generic := genericapiserver.NewRecommendedConfig(Codecs)
	generic.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	generic.ExternalAddress = "localhost:443"
	waiting, reviewed, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
	generic.Authentication.Authenticator = authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		waiting <- struct{}{}
		<-reviewed
		return nil, false, nil
	})
	generic.BuildHandlerChainFunc = func(_ http.Handler, c *genericapiserver.Config) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				_, _, _ = c.Authentication.Authenticator.AuthenticateRequest(r)
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
		go func() { done <- request("any") }()
		<-waiting
	}
	rejected := make(chan int, 1)
	go func() { rejected <- request("other") }()
	select {
	case got := <-rejected:
		if got != http.StatusTooManyRequests {
			t.Errorf("a token beside %d that are reviewed: %d", places, got)
		}
	case <-waiting:
		t.Fatalf("a token is reviewed beside %d others", places)
	}
	if got := request(""); got != http.StatusOK {
		t.Errorf("a request without a token: %d", got)
	}
	// They are authenticated, and are served.
	close(reviewed)
	for range places {
		<-waiting
	}
	go func() { done <- request("other") }()
	<-waiting
	<-waiting
	close(end)
	for range places + 1 {
		if got := <-done; got != http.StatusOK {
			t.Errorf("got %d", got)
		}
	}
}
