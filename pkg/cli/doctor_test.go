package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// What an interrupted doctor could not read is no finding about the cluster.
func TestInterruptedDoctorReportsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/version" {
			cancel()
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(version.Info{GitVersion: "v1.36.0"})
	}))
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", "/dev/null")
	var out strings.Builder
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
	cmd := NewRoot(NewFactory(streams.ErrOut), streams, "test", NewCommand)
	cmd.SetArgs([]string{"doctor", "--server=" + server.URL, "--cache-dir=" + t.TempDir()})
	if err := cmd.ExecuteContext(ctx); exitCode(err) != exitInterrupted || out.String() != "" {
		t.Errorf("got %v, %q", err, out.String())
	}
}

// A cluster of an old version, without the authority of front proxies and with a clock that is off: doctor says all
// three, and writes nothing.
func TestDoctorBeforeAnInstallationIntoAnOldCluster(t *testing.T) {
	var mu sync.Mutex
	var writes []string
	answer := func(w http.ResponseWriter, code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			mu.Lock()
			writes = append(writes, r.Method+" "+r.URL.Path)
			mu.Unlock()
		}
		switch r.URL.Path {
		case "/version":
			answer(w, http.StatusOK, version.Info{GitVersion: "v1.29.3"})
		case "/apis/admissionregistration.k8s.io/v1":
			answer(w, http.StatusOK, metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1", APIResources: []metav1.APIResource{{Name: "validatingwebhookconfigurations"}}})
		case "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings":
			answer(w, http.StatusOK, map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBindingList"})
		default:
			answer(w, http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound})
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", "/dev/null")
	var out strings.Builder
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
	cmd := NewRoot(NewFactory(streams.ErrOut), streams, "test", NewCommand)
	cmd.SetArgs([]string{"preflight", "--quiet", "--server=" + server.URL, "--cache-dir=" + t.TempDir()})
	err := cmd.ExecuteContext(t.Context())
	if exit := (exitError{}); !errors.As(err, &exit) || exit.code != 3 {
		t.Errorf("got %v, want exit code 3", err)
	}
	for _, want := range []string{
		"error    kubernetes: version v1.29.3 does not serve validatingadmissionpolicies and mutatingadmissionpolicies",
		"-> upgrade the cluster to Kubernetes 1.36 or later",
		"error    configmap extension-apiserver-authentication: it has no requestheader-client-ca-file",
		"warning  clock of this machine: it is 1h0m",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q:\n%s", want, out.String())
		}
	}
	if len(writes) > 0 {
		t.Errorf("it has written: %v", writes)
	}
}
