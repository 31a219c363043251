package forwarded

import (
	"crypto/x509"
	"net/http"
	"time"

	"k8s.io/utils/lru"
)

const (
	// maxConnections is the maximum number of remembered connections.
	maxConnections = 1000
	// verifiedFor is how long the certificate of a connection counts as verified. A withdrawn authority or an expired
	// certificate takes effect within that time.
	verifiedFor = 10 * time.Second
)

// connections remembers the recently verified client certificates of connections, because verification takes longer
// than the rest of authentication.
type connections struct{ at *lru.Cache }

// certificate returns the client certificate of a connection, which is the same pointer for all of its requests; nil if
// there is none.
func certificate(r *http.Request) *x509.Certificate {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil
	}
	return r.TLS.PeerCertificates[0]
}

func (c connections) has(r *http.Request) bool {
	presented := certificate(r)
	if presented == nil {
		return false
	}
	at, ok := c.at.Get(presented)
	return ok && time.Since(at.(time.Time)) < verifiedFor
}

// verified records that the certificate of a connection has been verified, unless that is recorded already.
func (c connections) verified(r *http.Request) {
	if !c.has(r) {
		c.at.Add(certificate(r), time.Now())
	}
}
