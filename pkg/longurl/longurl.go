// Package longurl bounds the URLs and headers of requests. Go's servers accept a megabyte of both: selectors in a URL are
// parsed before the user is known, are part of the keys of caches, and stay in memory as long as a watch. Short headers
// and segments of a path take many times their bytes.
package longurl

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxQuery is how many bytes a query may have.
const MaxQuery = 64 << 10

// maxSegments is how many segments a path may have: each is kept as a text of its own as long as the request.
const maxSegments = 1000

// Check returns an API error if the path of a URL has more bytes than maxPath or more segments than 1,000, or its query
// more bytes than MaxQuery. Clients show the message of a 400 as it is, but not that of a 414.
func Check(u *url.URL, maxPath int) error {
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

// maxHeaderValues is how many values the headers of a request may have, one for each group of the user included.
const maxHeaderValues = 5000

// CheckHeaders returns an API error if the headers of a request have more than 5,000 values.
func CheckHeaders(header http.Header) error {
	n := 0
	for _, values := range header {
		n += len(values)
	}
	if n > maxHeaderValues {
		return apierrors.NewBadRequest(fmt.Sprintf("the headers have %d values, and may have %d; leave out some", n, maxHeaderValues))
	}
	return nil
}
