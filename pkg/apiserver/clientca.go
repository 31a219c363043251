package apiserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

var errNoClientCA = errors.New("the certificate authority of kube-apiserver's requests has not been read yet; " +
	"configmap extension-apiserver-authentication in kube-system must have requestheader-client-ca-file: start kube-apiserver with --requestheader-client-ca-file")

// clientCA checks that the server has read the certificate authority of front proxies. The server listens before it
// has; until then it would authenticate all requests as anonymous, and answer with 403 instead of 503.
type clientCA struct {
	// provider is nil without request-header authentication.
	provider dynamiccertificates.CAContentProvider
	ready    atomic.Bool
}

// Check is a readiness check.
func (c *clientCA) Check(*http.Request) error {
	if c.provider == nil || c.ready.Load() {
		return nil
	}
	if _, ok := c.provider.VerifyOptions(); !ok {
		return errNoClientCA
	}
	c.ready.Store(true)
	return nil
}

// wait returns nil once the check passes, or its error after a second: clients do not repeat rejected requests earlier.
func (c *clientCA) wait(r *http.Request) (err error) {
	_ = wait.PollUntilContextTimeout(r.Context(), 10*time.Millisecond, time.Second, true, func(context.Context) (bool, error) {
		err = c.Check(r)
		return err == nil, nil
	})
	return err
}

// withClientCA delays API requests until the certificate authority is known. After a second it answers with 503, which
// clients repeat.
func (c *clientCA) withClientCA(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.Check(r); err != nil && strings.HasPrefix(r.URL.Path, "/apis") && c.wait(r) != nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}
