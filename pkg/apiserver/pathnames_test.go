package apiserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// Selectors are compared with each object of a list, and with each change of a watch.
func TestSelectorsAreBounded(t *testing.T) {
	api := sharedAPI(t)
	for _, request := range []struct{ method, path string }{
		{http.MethodGet, "v1beta1/hierarchies?"}, {http.MethodGet, "v1beta1/hierarchies?watch=1&"}, {http.MethodGet, "v1alpha2/namespaces/a/subnamespaceanchors?"},
		{http.MethodGet, "v1alpha3/mynamespaces?"}, {http.MethodGet, "v1alpha3/mynamespaces?watch=1&"}, {http.MethodDelete, "v1beta1/namespaces/a/hierarchies?"},
	} {
		for n, rejected := range map[int]bool{1000: false, 1001: true} {
			response := send(api, request.method, apiPath+request.path+"labelSelector="+strings.Repeat("a,", n-1)+"a", "", "admin", nil)
			message := strings.Contains(response.Body.String(), "labelSelector: has 1001 keys and values, and may have 1000")
			if (response.Code == http.StatusBadRequest) != rejected || message != rejected {
				t.Errorf("%s %s with %d keys: got %d %.300s", request.method, request.path, n, response.Code, response.Body)
			}
		}
	}
}
