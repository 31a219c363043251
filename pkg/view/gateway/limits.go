package gateway

import (
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// Limits bound the requests of one view that one replica serves at the same time.
type Limits struct {
	// Requests are those that are answered at once, Streams are watches, logs, shells and the like.
	Requests, Streams int
}

// retryAfter is when a rejected request may be sent again, in seconds.
const retryAfter = 1

// isStream reports whether a request may take as long as its client wants: what kube-apiserver serves as a watch, logs
// that are followed, and connections with programs. The query and the headers of other requests do not
// count: what they are answered with can be kept in memory as a whole.
func isStream(r *http.Request, info *request.RequestInfo) bool {
	switch {
	case !info.IsResourceRequest:
		return false
	case info.Verb == "watch":
		return true
	case info.Verb == "get" && info.Subresource == "log":
		return isTrue(r.URL.Query(), "follow")
	}
	return view.Connects(info) && httpstream.IsUpgradeRequest(r)
}

// isTrue reports whether a parameter of a query is one that kube-apiserver takes for true.
func isTrue(query map[string][]string, name string) bool {
	values, ok := query[name]
	return ok && len(values) > 0 && !strings.EqualFold(values[0], "false") && values[0] != "0"
}
