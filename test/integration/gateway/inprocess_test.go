package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/gateway"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// process is a gateway in this process: one that is not ready cannot be waited for otherwise.
type process struct{ *gateway.Gateway }

func start(t *testing.T, kubeconfig string) process {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, "kubeconfig", err)
	g, err := gateway.New(config, gateway.Config{Limits: gateway.Limits{Requests: 1, Streams: 1, AllStreams: 1}})
	must(t, "gateway", err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { g.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return process{g}
}

// serves waits until the gateway serves nothing, for a reason.
func (p process) serves(t *testing.T, reason string) {
	t.Helper()
	suite.Eventually(t, "serving nothing", func() error {
		r := httptest.NewRequestWithContext(request.WithUser(t.Context(), &user.DefaultInfo{Name: "jane"}), http.MethodGet, "/apis/view.hnc.x-k8s.io/v1alpha1", nil)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), reason) {
			return errors.New(w.Body.String())
		}
		return nil
	})
}
