// Package requestsize bounds the URLs and headers of requests. Go's servers accept a megabyte, which stays in memory as
// long as a watch. Selectors in the URL are parsed before the user is known, and are part of the keys of caches. Segments
// of a path and short headers take many times their bytes.
package requestsize

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// MaxQuery is how many bytes a query may have.
	MaxQuery = 64 << 10
	// maxSegments is how many segments a path may have.
	maxSegments = 1000
	// maxHeaders is how many bytes headers may have, without credentials, if each value counts as headerSize more.
	maxHeaders = 64 << 10
	headerSize = 64
	// maxHeaderValues is how many values the headers may have before the credentials are removed, of which there is one
	// for each group of the user.
	maxHeaderValues = 5000
	// maxLogged is how many bytes of a URL are logged.
	maxLogged = 1 << 10
)

// Bound is CheckURL, and returns an API error if the headers of a request have more than 5,000 values. It is for requests
// whose sender is not known yet. Of the request's URI, which is for logs only, it keeps the beginning: requests that
// clients abort are logged.
func Bound(r *http.Request, maxPath int) error {
	r.RequestURI = r.RequestURI[:min(len(r.RequestURI), maxLogged)]
	n := 0
	for _, values := range r.Header {
		n += len(values)
	}
	if n > maxHeaderValues {
		return apierrors.NewBadRequest(fmt.Sprintf("the headers have %d values, and may have %d; leave out some", n, maxHeaderValues))
	}
	return CheckURL(r.URL, maxPath)
}

// CheckURL returns an API error if the path of a URL has more bytes than maxPath or more than 1,000 segments, or its query
// more than MaxQuery. Clients show the message of a 400 as it is, but not that of a 414.
func CheckURL(u *url.URL, maxPath int) error {
	if n := len(u.EscapedPath()); n > maxPath {
		return apierrors.NewBadRequest(fmt.Sprintf("the path of the URL has %d bytes, and may have %d; use shorter names", n, maxPath))
	}
	if n := strings.Count(u.Path, "/"); n > maxSegments {
		return apierrors.NewBadRequest(fmt.Sprintf("the path of the URL has %d segments, and may have %d", n, maxSegments))
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
			size += len(name) + len(value) + headerSize
		}
	}
	if size > maxHeaders {
		return apierrors.NewBadRequest(fmt.Sprintf("the headers have %d bytes, %d for each value included, and may have %d; leave out some", size, headerSize, maxHeaders))
	}
	return nil
}
