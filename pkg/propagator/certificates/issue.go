package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// backdate is how long before its issue a certificate becomes valid, for machines whose clocks are behind.
const backdate = 5 * time.Minute

// pair is a certificate with its private key, in PEM and parsed. Only a retired authority has no key.
type pair struct {
	certificate, key []byte
	parsed           *x509.Certificate
	signer           crypto.Signer
}

// parsePair returns nil if both parts are missing.
func parsePair(certificate, key []byte) (*pair, error) {
	if len(certificate) == 0 && len(key) == 0 {
		return nil, nil
	}
	both, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	signer, ok := both.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, errors.New("the private key cannot sign")
	}
	return &pair{certificate: certificate, key: key, parsed: both.Leaf, signer: signer}, nil
}

// parseRetired returns an authority that signs nothing any more, or nil if there is none.
func parseRetired(certificate []byte) (*pair, error) {
	if len(certificate) == 0 {
		return nil, nil
	}
	parsed, err := cert.ParseCertsPEM(certificate)
	if err != nil {
		return nil, err
	}
	return &pair{certificate: certificate, parsed: parsed[0]}, nil
}

// issued returns when the certificate was issued.
func (p *pair) issued() time.Time { return p.parsed.NotBefore.Add(backdate) }

// renewal returns when the certificate has to be replaced: after two thirds of its life.
func (p *pair) renewal() time.Time {
	return p.issued().Add(p.parsed.NotAfter.Sub(p.issued()) * 2 / 3)
}

// newAuthority returns a self-signed certificate that signs others.
func newAuthority(now time.Time, lifetime time.Duration) (*pair, error) {
	return issue(&x509.Certificate{
		// The time distinguishes authorities: clients look an issuer up by its name.
		Subject:               pkix.Name{CommonName: "hns-ca-" + now.UTC().Format("20060102T150405.000Z")},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}, nil, now, lifetime)
}

// newServing returns a certificate for servers at the DNS names. It does not outlive its authority.
func newServing(authority *pair, now time.Time, lifetime time.Duration, names []string) (*pair, error) {
	if rest := authority.parsed.NotAfter.Sub(now); rest < lifetime {
		lifetime = rest
	}
	return issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: names[0]},
		DNSNames:    names,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, now, lifetime)
}

// issue signs the template with the authority, or with its own key if that is nil.
func issue(template *x509.Certificate, authority *pair, now time.Time, lifetime time.Duration) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, err
	}
	template.NotBefore, template.NotAfter = now.Add(-backdate), now.Add(lifetime)
	parent, signer := template, crypto.Signer(key)
	if authority != nil {
		parent, signer = authority.parsed, authority.signer
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate: %w", err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	return parsePair(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM)
}
