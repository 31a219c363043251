package apiserver

import (
	"net/http"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/requestsize"
)

// maxPath is how many bytes the path of a request may have. The longest valid one has less than half of that.
const maxPath = 2 << 10

// checkURL returns an error for a long URL. It precedes anything that parses or logs them.
func checkURL(r *http.Request) error { return requestsize.Bound(r, maxPath) }

// checkHeaders returns an error for large headers.
func checkHeaders(r *http.Request) error { return requestsize.CheckHeaders(r.Header) }
