package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/keyutil"
)

const (
	authorityLifetime   = 20 * 365 * 24 * time.Hour
	certificateLifetime = 10 * 365 * 24 * time.Hour
)

// KeyPair names a PEM certificate and its private key.
type KeyPair struct {
	CertFile, KeyFile string
}

// authority is a certificate authority kept in files.
type authority struct {
	KeyPair
	cert *x509.Certificate
	key  crypto.Signer
}

// pki is the control plane's certificates. Three authorities, because each is trusted for something else: a client
// certificate of the cluster must not open etcd, nor let its holder claim to be the aggregation layer.
type pki struct {
	dir string
	// mu keeps two callers from writing the same certificate at once.
	mu sync.Mutex
	// cluster signs serving certificates and Kubernetes users' client certificates.
	cluster *authority
	// etcd signs both sides of connections to etcd.
	etcd *authority
	// frontProxy signs the client certificate with which kube-apiserver forwards users' names to aggregated servers.
	frontProxy *authority
	// serviceAccountKey signs service account tokens.
	serviceAccountKey string
}

// loadPKI reads the authorities and the token key in dir, creating what is missing.
func loadPKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &pki{dir: dir, serviceAccountKey: filepath.Join(dir, "service-accounts.key")}
	for name, into := range map[string]**authority{"ca": &p.cluster, "etcd-ca": &p.etcd, "front-proxy-ca": &p.frontProxy} {
		a, err := loadAuthority(p.pair(name))
		if err != nil {
			return nil, fmt.Errorf("certificate authority %s: %w", name, err)
		}
		*into = a
	}
	if _, err := loadKey(p.serviceAccountKey); err != nil {
		return nil, fmt.Errorf("service account key: %w", err)
	}
	return p, nil
}

// pair names the files of a certificate.
func (p *pki) pair(name string) KeyPair {
	return KeyPair{CertFile: filepath.Join(p.dir, name+".crt"), KeyFile: filepath.Join(p.dir, name+".key")}
}

func loadAuthority(pair KeyPair) (*authority, error) {
	key, err := loadKey(pair.KeyFile)
	if err != nil {
		return nil, err
	}
	cert, err := readCertificate(pair.CertFile)
	if errors.Is(err, fs.ErrNotExist) {
		template := &x509.Certificate{
			Subject:               pkix.Name{CommonName: filepath.Base(pair.CertFile)},
			KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
			BasicConstraintsValid: true,
			IsCA:                  true,
		}
		if cert, err = sign(template, template, key.Public(), key, authorityLifetime); err == nil {
			err = os.WriteFile(pair.CertFile, encodeCertificate(cert), 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	return &authority{KeyPair: pair, cert: cert, key: key}, nil
}

// serving returns a certificate for a server (and for a client too, which etcd's peers need) at these names and
// addresses. One that exists is reused when it still fits.
func (p *pki) serving(a *authority, name string, hosts ...string) (KeyPair, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return p.issue(a, name, template)
}

// client returns a certificate that authenticates a user with groups, in files named name.
func (p *pki) client(a *authority, name, user string, groups ...string) (KeyPair, error) {
	return p.issue(a, name, userTemplate(user, groups))
}

// user returns a new client certificate of the cluster and its key, in PEM, without keeping them.
func (p *pki) user(user string, groups ...string) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := userTemplate(user, groups)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	cert, err := sign(template, p.cluster.cert, key.Public(), p.cluster.key, certificateLifetime)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return encodeCertificate(cert), keyPEM, err
}

func userTemplate(user string, groups []string) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

func (p *pki) issue(a *authority, name string, template *x509.Certificate) (KeyPair, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pair := p.pair(name)
	key, err := loadKey(pair.KeyFile)
	if err != nil {
		return pair, err
	}
	if cert, err := readCertificate(pair.CertFile); err == nil && fits(cert, a, template) {
		return pair, nil
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	cert, err := sign(template, a.cert, key.Public(), a.key, certificateLifetime)
	if err != nil {
		return pair, err
	}
	return pair, os.WriteFile(pair.CertFile, encodeCertificate(cert), 0o600)
}

// fits reports whether an existing certificate can stand for what template asks of the authority.
func fits(cert *x509.Certificate, a *authority, template *x509.Certificate) bool {
	sameIP := func(x, y net.IP) bool { return x.Equal(y) }
	return cert.CheckSignatureFrom(a.cert) == nil &&
		time.Until(cert.NotAfter) > certificateLifetime/10 &&
		cert.Subject.CommonName == template.Subject.CommonName &&
		slices.Equal(cert.Subject.Organization, template.Subject.Organization) &&
		slices.Equal(cert.DNSNames, template.DNSNames) &&
		slices.EqualFunc(cert.IPAddresses, template.IPAddresses, sameIP)
}

// sign issues a certificate.
func sign(template, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	// Clocks of machines that share the directory may differ a little.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func encodeCertificate(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

func readCertificate(file string) (*x509.Certificate, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", file)
	}
	return x509.ParseCertificate(block.Bytes)
}

// loadKey reads a private key, making one when the file does not exist.
func loadKey(file string) (crypto.Signer, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		data, err = keyutil.MarshalPrivateKeyToPEM(key)
		if err != nil {
			return nil, err
		}
		return key, os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return nil, err
	}
	key, err := keyutil.ParsePrivateKeyPEM(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s holds a key that cannot sign", file)
	}
	return signer, nil
}
