package faults

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// gateway returns one before a server that counts the requests of each path and answers with "done", and a client of it.
func gateway(t *testing.T) (*Gateway, *http.Client, string, *atomic.Int64) {
	t.Helper()
	var carriedOut atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		carriedOut.Add(1)
		_, _ = fmt.Fprintln(w, "done")
		w.(http.Flusher).Flush()
		if r.URL.Query().Get("watch") != "" {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	upstream := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "example.com"}
	g, err := NewGateway(t.Context(), server.URL, upstream, server.TLS.Certificates[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: upstream, ForceAttemptHTTP2: true}}
	return g, client, fmt.Sprintf("https://127.0.0.1:%d/", g.Port()), &carriedOut
}

func get(t *testing.T, client *http.Client, url string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client.Do(request)
}

func TestGatewayPassesEverythingOnUntilItHasARate(t *testing.T) {
	g, client, url, carriedOut := gateway(t)
	for range 20 {
		response, err := get(t, client, url)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != "done\n" {
			t.Errorf("%q, %v", body, err)
		}
		_ = response.Body.Close()
	}
	if len(g.Injected()) > 0 || carriedOut.Load() != 20 {
		t.Errorf("%v, %d requests", g.Injected(), carriedOut.Load())
	}
}

func TestGatewayInjectsEachFault(t *testing.T) {
	g, client, url, carriedOut := gateway(t)
	g.SetRate(1)
	answers := map[string]int{}
	const requests = 100
	for range requests {
		response, err := get(t, client, url)
		if err != nil {
			answers["none"]++
			continue
		}
		answers[fmt.Sprint(response.StatusCode)]++
		if response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
		_ = response.Body.Close()
	}
	injected := g.Injected()
	for _, f := range ofRequests {
		if injected[f] == 0 {
			t.Errorf("%s was not injected", f)
		}
	}
	for fault, answer := range map[Fault]string{Internal: "500", Unavailable: "503", TooMany: "429", Unconfirmed: "504", Lost: "none"} {
		if injected[fault] != answers[answer] {
			t.Errorf("%d of %s, %d answers", injected[fault], fault, answers[answer])
		}
	}
	if got, want := int(carriedOut.Load()), requests-injected[Internal]-injected[Unavailable]-injected[TooMany]; got != want {
		t.Errorf("%d requests carried out, want %d", got, want)
	}
}

func TestGatewayCutsOpenWatches(t *testing.T) {
	g, client, url, _ := gateway(t)
	response, err := get(t, client, url+"?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if g.Watches() != 1 {
		t.Errorf("%d watches", g.Watches())
	}
	for g.Injected()[CutWatch] == 0 {
		g.SetRate(1)
	}
	done := make(chan error)
	go func() {
		_, err := io.ReadAll(response.Body)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("the watch has ended in order")
		}
	case <-time.After(time.Minute):
		t.Fatal("the watch goes on")
	}
}
