package apiserver

import (
	"net/http"
	"regexp"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver/forwarded"
)

// itemURL matches the URL of an object of v1alpha2 and captures the URL of its collection.
var itemURL = regexp.MustCompile(`^(/apis/hnc\.x-k8s\.io/v1alpha2/(?:namespaces/[^/]+/)?(?:hierarchyconfigurations|subnamespaceanchors|hncconfigurations|hierarchicalresourcequotas))/[^/]+$`)

// withPostToItem makes a POST to the URL of an object create the object that the body names, as custom resources do and
// HNC's clients rely on (docs/spec/hnc.md 1.7).
func withPostToItem(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if match := itemURL.FindStringSubmatch(r.URL.Path); match != nil {
				// The name in the body may differ from the one that kube-apiserver has authorized.
				r = r.Clone(forwarded.Changed(r.Context()))
				r.URL.Path, r.URL.RawPath = match[1], ""
			}
		}
		next.ServeHTTP(w, r)
	})
}
