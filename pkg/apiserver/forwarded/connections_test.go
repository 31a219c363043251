package forwarded

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"
	"time"

	"k8s.io/utils/lru"
)

func TestOnlyRecentlyVerifiedConnectionsAreRemembered(t *testing.T) {
	with := func(certificates ...*x509.Certificate) *http.Request {
		return &http.Request{TLS: &tls.ConnectionState{PeerCertificates: certificates}}
	}
	known := connections{lru.New(2)}
	proxy, equal := &x509.Certificate{Raw: []byte("a")}, &x509.Certificate{Raw: []byte("a")}
	for name, r := range map[string]*http.Request{"plain": {}, "anonymous": with(), "not verified yet": with(proxy)} {
		if known.has(r) {
			t.Errorf("%s: it is remembered", name)
		}
	}
	known.verified(with(proxy))
	if !known.has(with(proxy)) {
		t.Error("another request of the connection is not remembered")
	}
	if known.has(with(equal)) {
		t.Error("another connection with an equal certificate is remembered")
	}
	known.at.Add(proxy, time.Now().Add(-verifiedFor))
	if known.has(with(proxy)) {
		t.Error("it is remembered forever")
	}
}
