package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// pod is a Pod of a given age on the wire.
func pod(namespace, name string, age time.Duration) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
		"namespace": namespace, "name": name, "resourceVersion": "8", "creationTimestamp": time.Now().Add(-age).UTC().Format(time.RFC3339)}}
}

// subtreeServer serves discovery, and Pods across the subtree of team-a, in two pages if there is a limit. A watch
// returns one more, and stays open.
func subtreeServer(t *testing.T, asked func(*http.Request)) *httptest.Server {
	t.Helper()
	answer := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}
	pods := []metav1.APIResource{{Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", ShortNames: []string{"po"}, Verbs: metav1.Verbs{"list", "watch"}}}
	mux := http.NewServeMux()
	mux.HandleFunc("/api", func(w http.ResponseWriter, _ *http.Request) { answer(w, metav1.APIVersions{Versions: []string{"v1"}}) })
	mux.HandleFunc("/apis", func(w http.ResponseWriter, _ *http.Request) { answer(w, metav1.APIGroupList{}) })
	mux.HandleFunc("/api/v1", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, metav1.APIResourceList{GroupVersion: "v1", APIResources: pods})
	})
	mux.HandleFunc("/apis/resources.hnc.x-k8s.io/v1alpha2/namespaces/team-a/pods", func(w http.ResponseWriter, r *http.Request) {
		asked(r)
		if r.URL.Query().Get("watch") == "" {
			metadata := map[string]any{"resourceVersion": "7"}
			items := []any{pod("team-a", "web", 20*time.Minute+30*time.Second), pod("service-1", "a-pod-with-a-long-name", time.Hour+30*time.Second)}
			if r.URL.Query().Get("continue") == "second" {
				items = items[1:]
			} else if r.URL.Query().Get("limit") != "" {
				metadata["continue"], items = "second", items[:1]
			}
			answer(w, map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": items})
			return
		}
		answer(w, map[string]any{"type": "ADDED", "object": pod("service-1", "new", 0)})
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// lockedOutput collects the output of a running command.
type lockedOutput struct {
	sync.Mutex
	strings.Builder
}

func (o *lockedOutput) Write(p []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	return o.Builder.Write(p)
}

func (o *lockedOutput) text() string {
	o.Lock()
	defer o.Unlock()
	return o.String()
}

// get runs `get` with these arguments against the server.
func get(ctx context.Context, t *testing.T, server *httptest.Server, out *lockedOutput, args ...string) error {
	t.Helper()
	root := NewRoot(NewFactory(out), genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out}, "", NewCommand)
	root.SetArgs(append([]string{"get", "--server", server.URL, "--cache-dir", t.TempDir()}, args...))
	return root.ExecuteContext(ctx)
}

const podTable = "NAMESPACE   NAME                     AGE\nteam-a      web                      20m\nservice-1   a-pod-with-a-long-name   60m\n"

func TestGetPrintsTheTableOfHNC(t *testing.T) {
	for _, name := range []string{"pods", "pod", "po", "Pod"} {
		var out lockedOutput
		if err := get(t.Context(), t, subtreeServer(t, func(*http.Request) {}), &out, name, "-n", "team-a"); err != nil {
			t.Fatal(err)
		}
		if got := out.text(); got != podTable {
			t.Errorf("%s: got\n%q\nwant\n%q", name, got, podTable)
		}
	}
	var out lockedOutput
	if err := get(t.Context(), t, subtreeServer(t, func(*http.Request) {}), &out, "pods", "-n", "team-a", "-o", "name"); err != nil || out.text() != "team-a/pod/web\nservice-1/pod/a-pod-with-a-long-name\n" {
		t.Errorf("-o name: %v, %q", err, out.text())
	}
}

// The server rejects large lists without a limit.
func TestGetListsPages(t *testing.T) {
	var lists []string
	var out lockedOutput
	err := get(t.Context(), t, subtreeServer(t, func(r *http.Request) { lists = append(lists, r.URL.RawQuery) }), &out, "pods", "-n", "team-a")
	if want := "[limit=500 continue=second&limit=500]"; err != nil || out.text() != podTable || fmt.Sprint(lists) != want {
		t.Errorf("error %v, lists %v, want %s; got\n%s", err, lists, want, out.text())
	}
}

func TestGetWatchesFromWhereTheListEnds(t *testing.T) {
	var versions []string
	var guard sync.Mutex
	server := subtreeServer(t, func(r *http.Request) {
		guard.Lock()
		defer guard.Unlock()
		if r.URL.Query().Get("watch") != "" {
			versions = append(versions, r.URL.Query().Get("resourceVersion")+" "+r.URL.Query().Get("labelSelector"))
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out lockedOutput
	done := make(chan error)
	go func() { done <- get(ctx, t, server, &out, "pods", "-n", "team-a", "-w", "-l", "a=b") }()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for ctx.Err() == nil && !strings.Contains(out.text(), "service-1   new                      ") {
		<-ticker.C
	}
	timedOut := ctx.Err() != nil
	cancel()
	if err := <-done; exitCode(err) != exitInterrupted || timedOut {
		t.Errorf("%v, got\n%s", err, out.text())
	}
	guard.Lock()
	defer guard.Unlock()
	if fmt.Sprint(versions) != "[7 a=b]" {
		t.Errorf("watched from %q", versions)
	}
}
