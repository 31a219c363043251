package apiserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

var errUnknownClients = errors.New("the certificate authority of kube-apiserver's requests has not been read yet")

// identification says whether the server can tell who asks. It listens a moment before it has read from the cluster whom
// it may believe about users; until then it would take everybody for anonymous, and answer 403 where 503 is true.
type identification struct {
	authority dynamiccertificates.CAContentProvider
	ready     atomic.Bool
}

// Check is a readiness check.
func (i *identification) Check(*http.Request) error {
	if i.authority == nil || i.ready.Load() {
		return nil
	}
	if _, ok := i.authority.VerifyOptions(); !ok {
		return errUnknownClients
	}
	i.ready.Store(true)
	return nil
}

// await returns nil once the check passes, and its error if that takes more than a second: clients that are refused don't come back earlier.
func (i *identification) await(r *http.Request) (err error) {
	_ = wait.PollUntilContextTimeout(r.Context(), 10*time.Millisecond, time.Second, true, func(context.Context) (bool, error) {
		err = i.Check(r)
		return err == nil, nil
	})
	return err
}

// guard has API requests wait until it can be told who asks, and answers with 503, which clients repeat, if that takes long.
func (i *identification) guard(build handlerChain) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		chain := build(api, config)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := i.Check(r); err != nil && strings.HasPrefix(r.URL.Path, "/apis") && i.await(r) != nil {
				w.Header().Set("Retry-After", "1")
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			chain.ServeHTTP(w, r)
		})
	}
}
