package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
)

// Long URLs are rejected before anything parses them, and before the user is known: whoever reaches the port can send
// them.
func TestLongURLsAreRejectedFirst(t *testing.T) {
	authenticated := 0
	api := startAPI(t, func(config *apiserver.Config) {
		next := config.Generic.Authentication.Authenticator
		config.Generic.Authentication.Authenticator = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
			authenticated++
			return next.AuthenticateRequest(r)
		})
	})
	const hierarchies = apiPath + "v1beta1/hierarchies"
	long := func(n int) string { return strings.Repeat("a", n) }
	for name, test := range map[string]struct {
		path    string
		code    int
		message string
	}{
		"the longest query": {hierarchies + "?a=" + long(64<<10-2), http.StatusOK, ""},
		"a longer query":    {hierarchies + "?a=" + long(64<<10-1), http.StatusBadRequest, "the query of the URL has 65537 bytes, and may have 65536; shorten the selector"},
		"a long path":       {hierarchies + "/" + long(2<<10), http.StatusBadRequest, "the path of the URL has 2087 bytes"},
	} {
		authenticated = 0
		response := send(api, http.MethodGet, test.path, "", "admin", nil)
		if response.Code != test.code || !strings.Contains(response.Body.String(), test.message) {
			t.Errorf("%s: got %d %.300s", name, response.Code, response.Body)
		}
		if test.code == http.StatusBadRequest && authenticated > 0 {
			t.Errorf("%s: the user was authenticated", name)
		}
	}
}

// kube-apiserver forwards all headers of a client, and they stay in memory as long as a watch.
func TestLargeHeadersAreRejected(t *testing.T) {
	api := sharedAPI(t)
	for n, want := range map[int]int{64<<10 - 500: http.StatusOK, 64 << 10: http.StatusBadRequest} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, apiPath+"v1beta1/hierarchies", nil)
		r.Header = http.Header{"User": {"admin"}, "Accept": {"application/json"}, "X": {strings.Repeat("a", n/2), strings.Repeat("b", n/2)}}
		w := httptest.NewRecorder()
		if api.ServeHTTP(w, r); w.Code != want || want != http.StatusOK && !strings.Contains(w.Body.String(), "and may have 65536; leave out some") {
			t.Errorf("headers of %d bytes: got %d %.300s, want %d", n, w.Code, w.Body, want)
		}
	}
}
