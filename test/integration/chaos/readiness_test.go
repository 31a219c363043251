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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	// readyFor is how long the replicas have to stay ready under load before the first fault, at least.
	readyFor = 10 * time.Second
	// probeTimeout is how long a response may take.
	probeTimeout = 5 * time.Second
	// busy is how many of a hundred probes may remain without a response, since the machine may be busy with other
	// things.
	busy = 1
)

// stayReady expects that every replica of hns-apiserver, the leading hns-propagator and the waiting one respond that
// they are ready, although clients change the forest.
func (r *replicas) stayReady(t *testing.T) {
	t.Helper()
	config := rest.CopyConfig(r.cp.RESTConfig())
	config.ServerName, config.Timeout = "localhost", probeTimeout
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	requests, missing := map[string]int{}, map[string]int{}
	begin := time.Now()
	for time.Since(begin) < max(readyFor, *duration/10) {
		for _, server := range r.servers {
			process := server.Process()
			requests[process]++
			code, body, err := r.readyz(t, client, server)
			if err != nil {
				missing[process]++
				t.Logf("%s after %s: %v", process, time.Since(begin).Round(100*time.Millisecond), err)
			} else if code != http.StatusOK {
				t.Errorf("%s is not ready under load: %s", process, body)
			}
		}
		_ = after(t.Context(), interval)
	}
	for process, n := range requests {
		if missing[process]*100 > n*busy {
			t.Errorf("%s did not respond to %d of %d requests for readiness within %s", process, missing[process], n, probeTimeout)
		}
	}
	t.Logf("requests for readiness under load for %s: %v, without a response: %v", time.Since(begin).Round(time.Second), requests, missing)
}

// readyz requests it of a server.
func (r *replicas) readyz(t *testing.T, client *http.Client, server controlplane.Server) (code int, body []byte, err error) {
	t.Helper()
	port, err := r.cp.Port(server.Process())
	if err != nil {
		t.Fatal(err)
	}
	address := server.Address
	if address == "" {
		address = "127.0.0.1"
	}
	url := fmt.Sprintf("https://%s/readyz?verbose", net.JoinHostPort(address, strconv.Itoa(port)))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
