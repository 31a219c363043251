// Package loopback serves a view on this machine, to whoever has its kubeconfig.
package loopback

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// Server serves a handler on 127.0.0.1, on a random port, with a certificate and a token of its own.
type Server struct {
	listener net.Listener
	server   *http.Server
	ca       []byte
	token    string
	dir      string
}

// Listen opens the port and writes the kubeconfig, in a directory that only the user can read. Close removes it.
func Listen(handler http.Handler) (*Server, error) {
	ca, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(ca, key)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, ca: ca, token: rand.Text()}
	s.server = &http.Server{
		Handler:           s.authenticate(handler),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13},
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
	if s.dir, err = os.MkdirTemp("", "kubectl-hns-view-"); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return s, nil
}

// authenticate serves requests with the token only. A browser cannot send it.
func (s *Server) authenticate(next http.Handler) http.Handler {
	want := []byte("Bearer " + s.token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			view.Fail(w, r, apierrors.NewUnauthorized("use the kubeconfig of this view"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// WriteKubeconfig writes a kubeconfig for the view, with a namespace for its context, and returns its path.
func (s *Server) WriteKubeconfig(name, namespace string) (string, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + s.listener.Addr().String(), CertificateAuthorityData: s.ca}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: s.token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	path := filepath.Join(s.dir, "kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

// CacheDir is a directory for caches of clients: no other view has the same address and other content.
func (s *Server) CacheDir() string { return filepath.Join(s.dir, "cache") }

// Serve serves until the context is done.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.server.BaseContext = func(net.Listener) context.Context { return ctx }
	failed := make(chan error, 1)
	go func() { failed <- s.server.ServeTLS(s.listener, "", "") }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving the view: %w", err)
	case <-ctx.Done():
		cancel()
		closing, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		if s.server.Shutdown(closing) != nil {
			_ = s.server.Close()
		}
		return nil
	}
}

// Close removes the kubeconfig.
func (s *Server) Close() error {
	_ = s.listener.Close()
	return os.RemoveAll(s.dir)
}
