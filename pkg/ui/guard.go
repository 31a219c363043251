package ui

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

// proofHeader carries a token in each request for data, and the other one in its response. A header, unlike a cookie, is
// never sent by a page of another origin without a preflight request, which the server does not answer, and is not shared
// with servers on other ports.
const proofHeader = "X-HNS-Token"

// tokens are what the page proves itself with, and what the server does. A tab may outlive its server: another program
// that serves on its port then receives the page's token, but does not know the server's.
type tokens struct{ page, server string }

// contentSecurityPolicy lets the page load scripts, styles and data from its own origin only. Scripts cannot turn text
// into markup, and no page can frame it.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// newToken returns 256 random bits.
func newToken() string {
	bits := make([]byte, 32)
	// Read never returns an error.
	_, _ = rand.Read(bits)
	return base64.RawURLEncoding.EncodeToString(bits)
}

// guard refuses requests that the page itself has not sent. host is the only valid Host header, with the port.
type guard struct {
	host   string
	tokens tokens
	// write says that changes are served.
	write bool
	next  http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	header.Set("Cache-Control", "no-store")
	data := isData(r)
	authentic := subtle.ConstantTimeCompare([]byte(r.Header.Get(proofHeader)), []byte(g.tokens.page)) == 1
	if data && authentic {
		header.Set(proofHeader, g.tokens.server)
	}
	switch why := g.refuses(r, data); {
	case why != "":
		writeError(w, http.StatusForbidden, Problem{Title: "The request is refused", Detail: why})
	case r.Method != http.MethodGet && r.Method != http.MethodHead && (!g.write || !data || r.Method != http.MethodPost):
		header.Set("Allow", "GET, HEAD")
		writeError(w, http.StatusMethodNotAllowed, Problem{Title: "The page is read-only", Detail: "only GET and HEAD are served", Hint: "To make changes, run kubectl hns ui --write."})
	case data && !authentic:
		writeError(w, http.StatusUnauthorized, Problem{Title: "This tab has no valid token", Detail: "open the URL that kubectl hns ui printed"})
	default:
		g.next.ServeHTTP(w, r)
	}
}

// isData reports whether a request is for data or a change, which the page's script sends with its token.
func isData(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// refuses returns why a request is refused, "" if it is not. data requests come from the page's script, others may be
// navigations.
func (g *guard) refuses(r *http.Request, data bool) string {
	// A name that another site resolves to 127.0.0.1 is not this host.
	if r.Host != g.host {
		return "the Host header is not " + g.host
	}
	if origin := r.Header.Values("Origin"); len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+g.host {
		return "the request comes from another origin"
	}
	if g.write && r.Method == http.MethodPost && (r.Header.Get("Origin") == "" || r.Header.Get("Content-Type") != "application/json") {
		return "a change needs the headers Origin and Content-Type: application/json"
	}
	// Browsers set Sec-Fetch-Site themselves; "none" is an address that the user has entered or opened.
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && (site != "none" || data) {
			return "the request comes from another site"
		}
	}
	return ""
}
