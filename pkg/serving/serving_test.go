package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server/healthz"
)

// get returns the status and the body of a server that serves until the test ends. It has no kubeconfig, so everybody
// is anonymous and has no permissions.
func get(t *testing.T, s Options, ready error, path string) (int, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Secure.Listener = listener
	s.Authentication.SkipInClusterLookup, s.Authentication.RemoteKubeConfigFileOptional = true, true
	s.Authorization.RemoteKubeConfigFileOptional = true
	ctx, stop := context.WithCancel(t.Context())
	check := healthz.NamedCheck("check", func(*http.Request) error { return ready })
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") })
	serving, err := s.Serve(ctx, "", []healthz.HealthChecker{healthz.PingHealthz}, []healthz.HealthChecker{check}, metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		<-serving.Served
	}()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := client.Get("https://" + listener.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestHealthIsServedToEverybodyAndMetricsAreNot(t *testing.T) {
	for path, want := range map[string]int{
		"/livez": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusUnauthorized, "/debug/pprof/heap": http.StatusUnauthorized,
	} {
		s := New("test")
		s.Profiling = true
		if got, body := get(t, s, nil, path); got != want {
			t.Errorf("%s answers %d, want %d: %s", path, got, want, body)
		}
	}
}

func TestReadyzNamesTheCheckThatFailsWithoutItsReason(t *testing.T) {
	got, body := get(t, New("test"), errors.New("hierarchies is forbidden"), "/readyz")
	if got != http.StatusInternalServerError || !strings.Contains(body, "[-]check failed") || strings.Contains(body, "hierarchies") {
		t.Errorf("got %d: %s", got, body)
	}
}

// A server of an API that is told to stop serves until its delay is over, while it is not ready.
func TestAnAPIIsServedUntilNoMoreRequestsAreSent(t *testing.T) {
	stopped := func(delay time.Duration) (port *Serving, address string) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := New("test")
		s.API, s.ShutdownDelay = http.NotFoundHandler(), delay
		s.Secure.Listener = listener
		s.Authentication.SkipInClusterLookup, s.Authentication.RemoteKubeConfigFileOptional = true, true
		s.Authorization.RemoteKubeConfigFileOptional = true
		ctx, stop := context.WithCancel(t.Context())
		port, err = s.Serve(ctx, "", []healthz.HealthChecker{healthz.PingHealthz}, nil, http.NotFoundHandler())
		if err != nil {
			t.Fatal(err)
		}
		stop()
		return port, listener.Addr().String()
	}
	_, address := stopped(time.Hour)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for path, want := range map[string]int{"/livez": http.StatusOK, "/readyz": http.StatusInternalServerError} {
		response, err := client.Get("https://" + address + path)
		if err != nil {
			t.Fatalf("%s while the process stops: %v", path, err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s answers %d while the process stops, want %d", path, response.StatusCode, want)
		}
	}
	port, _ := stopped(time.Millisecond)
	<-port.Closed
	<-port.Served
}

func TestProfilesAreServedOnlyIfAskedFor(t *testing.T) {
	for profiling, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		for _, path := range []string{"heap", "mutex", "block", "profile?seconds=1"} {
			s := New("test")
			s.Profiling = profiling
			s.Authorization.AlwaysAllowPaths = []string{"/debug/*"}
			if got, body := get(t, s, nil, "/debug/pprof/"+path); got != want {
				t.Errorf("profiling %t: %s answers %d: %s", profiling, path, got, body)
			}
		}
	}
}

func TestOldVersionsOfTLSAreRefused(t *testing.T) {
	for _, test := range []struct {
		flag    string
		client  uint16
		refused bool
	}{
		{"", tls.VersionTLS11, true}, {"", tls.VersionTLS12, false}, {"VersionTLS13", tls.VersionTLS12, true}, {"VersionTLS13", tls.VersionTLS13, false},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := New("test")
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		s.AddGenericFlags(flags)
		if err := flags.Set("tls-min-version", test.flag); err != nil {
			t.Fatal(err)
		}
		s.Secure.Listener = listener
		s.Authentication.SkipInClusterLookup, s.Authentication.RemoteKubeConfigFileOptional = true, true
		s.Authorization.RemoteKubeConfigFileOptional = true
		ctx, stop := context.WithCancel(t.Context())
		serving, err := s.Serve(ctx, "", nil, nil, http.NotFoundHandler())
		if err != nil {
			t.Fatal(err)
		}
		connection, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: test.client})
		if (err != nil) != test.refused {
			t.Errorf("--tls-min-version=%s: a client with %s gets %v", test.flag, tls.VersionName(test.client), err)
		}
		if err == nil {
			_ = connection.Close()
		}
		stop()
		<-serving.Served
	}
}
