// Package longurl bounds the URLs of requests. Go's servers accept headers of a megabyte, of which the URL is one line:
// selectors in it are parsed before the user is known, are part of the keys of caches, and stay in memory as long as a
// watch.
package longurl

import (
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxQuery is how many bytes a query may have.
const MaxQuery = 64 << 10

// Check returns an API error if the path of a URL has more bytes than maxPath, or its query more than MaxQuery. Clients
// show the message of a 400 as it is, but not that of a 414.
func Check(u *url.URL, maxPath int) error {
	if n := len(u.EscapedPath()); n > maxPath {
		return apierrors.NewBadRequest(fmt.Sprintf("the path of the URL has %d bytes, and may have %d; use shorter names", n, maxPath))
	}
	if n := len(u.RawQuery); n > MaxQuery {
		return apierrors.NewBadRequest(fmt.Sprintf("the query of the URL has %d bytes, and may have %d; shorten the selector, or the command by sending text on its standard input", n, MaxQuery))
	}
	return nil
}
