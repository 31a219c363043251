package forwarded

import (
	"crypto/x509"
	"net/http"
	"time"

	"k8s.io/utils/lru"
)

const (
	// maxConnections is how many connections of front proxies are known at a time.
	maxConnections = 1000
	// verifiedFor is how long a certificate is not verified again. An authority that is withdrawn, and a certificate that expires, is
	// noticed within that time.
	verifiedFor = 10 * time.Second
)

// connections knows the client certificates of connections that were verified a moment ago: to verify one takes longer than all else that is done to
// find out who asks.
type connections struct{ at *lru.Cache }

// certificate returns the client certificate with which a request's connection began, the same for all of its requests; nil if there is none.
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

// verified records that the certificate of a request's connection has been verified, unless that is known.
func (c connections) verified(r *http.Request) {
	if !c.has(r) {
		c.at.Add(certificate(r), time.Now())
	}
}
