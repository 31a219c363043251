package chaos

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// readyFor is how long the replicas have to stay ready under load before the first fault.
const readyFor = 10 * time.Second

// stayReady expects that no replica of hnc-apiserver says that it is not ready, although clients change the forest. A machine that is too busy to let
// it answer in time says nothing about it.
func (r *replicas) stayReady(t *testing.T) {
	t.Helper()
	config := rest.CopyConfig(r.cp.RESTConfig())
	config.ServerName, config.Timeout = "localhost", 5*time.Second
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	asked, answers := 0, 0
	for end := time.Now().Add(readyFor); time.Now().Before(end); _ = after(t.Context(), interval) {
		for _, server := range r.servers[:apiServers] {
			port, err := r.cp.Port(server.Process())
			if err != nil {
				t.Fatal(err)
			}
			asked++
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://%s/readyz?verbose", net.JoinHostPort(server.Address, strconv.Itoa(port))), nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				continue
			}
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			answers++
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s is not ready under load: %s", server.Process(), body)
			}
		}
	}
	if answers == 0 {
		t.Error("no replica answered whether it is ready")
	}
	t.Logf("%d answers to %d requests for readiness under load", answers, asked)
}
