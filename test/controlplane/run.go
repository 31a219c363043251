package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	certutil "k8s.io/client-go/util/cert"
)

// run is what it takes to have a process: its name, its binary in BinDir, and the URL that answers 200 once it is
// ready.
type run struct {
	name, binary string
	args         []string
	ready        string
	tls          *tls.Config
}

// run makes sure that the process runs and is ready.
func (cp *ControlPlane) run(ctx context.Context, r run) error {
	p := newProcess(cp.config.Dir, r.name)
	binary := filepath.Join(cp.config.BinDir, r.binary)
	_, running := p.running()
	if running && p.outdated(binary) {
		if err := p.stop(ctx, stopGrace); err != nil {
			return err
		}
		running = false
	}
	if !running {
		if err := p.start(binary, r.args, cp.config.Detached); err != nil {
			return err
		}
	}
	transport := &http.Transport{TLSClientConfig: r.tls, DisableKeepAlives: true}
	return p.waitReady(ctx, &http.Client{Transport: transport}, r.ready, cp.config.Timeout)
}

// clientTLS trusts the authority in caFile and presents the certificate.
func clientTLS(caFile string, client KeyPair) (*tls.Config, error) {
	roots, err := certutil.NewPool(caFile)
	if err != nil {
		return nil, err
	}
	cert, err := tls.LoadX509KeyPair(client.CertFile, client.KeyFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{cert}}, nil
}

// RequireBinaries returns an error that names what to do if one of our own servers isn't built in binDir.
func RequireBinaries(binDir string, names ...string) error {
	var errs []error
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(binDir, name)); err != nil {
			errs = append(errs, fmt.Errorf("%s is not built, run `make build`: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
