package faults

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// gateway returns one before a server that counts the requests of each path and answers with "done", and a client of
// it.
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
	begin := time.Now()
	for range requests {
		response, err := get(t, client, url+"?continue=page")
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
	// The delays are random; their sum is shorter than this once in many millions of tests.
	if took := time.Since(begin); took < longest {
		t.Errorf("requests and answers were delayed by %s at most", took)
	}
	injected := all(t, g, ofPages)
	for fault, answer := range map[Fault]string{
		Internal: "500", Unavailable: "503", TooMany: "429", Unconfirmed: "504", Lost: "none", Expired: "410",
	} {
		if injected[fault] != answers[answer] {
			t.Errorf("%d of %s, %d answers", injected[fault], fault, answers[answer])
		}
	}
	if got, want := int(carriedOut.Load()), requests-injected[Internal]-injected[Unavailable]-injected[TooMany]-injected[Expired]; got != want {
		t.Errorf("%d requests carried out, want %d", got, want)
	}
}

// all returns how often each fault was injected, which must be at least once for each of a list.
func all(t *testing.T, g *Gateway, faults []Fault) map[Fault]int {
	t.Helper()
	injected := g.Injected()
	for _, f := range faults {
		if injected[f] == 0 {
			t.Errorf("%s was not injected", f)
		}
	}
	return injected
}

// The server flushes the first line of a watch at once, and ends none by itself.
func TestGatewayInjectsEachFaultOfWatches(t *testing.T) {
	g, client, url, _ := gateway(t)
	g.SetRate(1)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	var latest time.Duration
	count := func(answer string, n int) {
		mu.Lock()
		defer mu.Unlock()
		answers[answer] += n
	}
	for range 60 {
		watching.Go(func() {
			begin := time.Now()
			request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"?watch=true", nil)
			response, err := client.Do(request)
			if err != nil {
				count("cut", 1)
				return
			}
			defer func() { _ = response.Body.Close() }()
			if response.StatusCode != http.StatusOK {
				count(fmt.Sprint(response.StatusCode), 1)
				return
			}
			_, _ = io.ReadFull(response.Body, make([]byte, len("done\n")))
			count("open", 1)
			mu.Lock()
			latest = max(latest, time.Since(begin))
			mu.Unlock()
			if _, _ = io.ReadAll(response.Body); ctx.Err() == nil {
				count("open", -1)
				count("cut", 1)
			}
		})
	}
	want := map[Fault]string{Internal: "500", Unavailable: "503", TooMany: "429", Expired: "410", CutWatch: "cut", SlowWatch: "open"}
	different := func() (lines []string) {
		injected := g.Injected()
		mu.Lock()
		defer mu.Unlock()
		total := 0
		for fault, answer := range want {
			if total += injected[fault]; injected[fault] != answers[answer] {
				lines = append(lines, fmt.Sprintf("%d of %s, %d answers", injected[fault], fault, answers[answer]))
			}
		}
		if total != 60 {
			lines = append(lines, fmt.Sprintf("%d faults of 60 watches", total))
		}
		return lines
	}
	for end := time.Now().Add(time.Minute); len(different()) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if lines := different(); len(lines) > 0 {
		t.Error(lines)
	}
	cancel()
	watching.Wait()
	all(t, g, ofWatches)
	if latest < watched/10 {
		t.Errorf("the first line of the slowest watch came after %s", latest)
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
