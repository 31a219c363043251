// Package requestlimits bounds the URLs and headers of requests. Go's servers accept a megabyte, which stays in memory as
// long as a watch. Selectors in the URL are parsed before the user is known, and are part of the keys of caches.
package requestlimits

import (
	"fmt"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// MaxQuery is how many bytes a query may have.
	MaxQuery = 64 << 10
	// maxHeaders is how many bytes headers may have, without credentials.
	maxHeaders = 64 << 10
)

// CheckURL returns an API error if the path of a URL has more bytes than maxPath, or its query more than MaxQuery. Clients
// show the message of a 400 as it is, but not that of a 414.
func CheckURL(u *url.URL, maxPath int) error {
	if n := len(u.EscapedPath()); n > maxPath {
		return apierrors.NewBadRequest(fmt.Sprintf("the path of the URL has %d bytes, and may have %d; use shorter names", n, maxPath))
	}
	if n := len(u.RawQuery); n > MaxQuery {
		return apierrors.NewBadRequest(fmt.Sprintf("the query of the URL has %d bytes, and may have %d; shorten the selector, or the command by sending text on its standard input", n, MaxQuery))
	}
	return nil
}

// CheckHeaders returns an API error if the headers of a request have more bytes than maxHeaders. Authentication, which
// comes before, has removed its credentials.
func CheckHeaders(header http.Header) error {
	size := 0
	for name, values := range header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxHeaders {
		return apierrors.NewBadRequest(fmt.Sprintf("the headers have %d bytes, and may have %d; leave out some", size, maxHeaders))
	}
	return nil
}
